"""Model folders: `config.json`, `model.safetensors` and the two vocabularies.

Reading a model folder never unpickles anything. In the header of `model.safetensors` are a checksum of the tensors, and a
hash of what they are of no use without: so a byte that has changed, and files of different models, are found.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import Config, DataConfig, ModelConfig, from_dict, to_dict
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.model import AlignmentLayer, RNNsearch, present_name
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, SCALE, WEIGHTS, further_weights, read_model_config, shared_files
from rnnsearch.ops.packed import WeightPrecision, quantize
from rnnsearch.text import Vocabularies
from rnnsearch.text.protected import pair_as_symbols
from rnnsearch.untrusted import check_header, check_inside, parse_json

TRAINING_COPIES = 4
"""A training holds the weights, their gradient, and two averages of each."""
_HEADER = "rnnsearch"
"""The entry of a weight file's metadata that says of which model the weights are."""
_UNITS = ("source_units", "target_units", "normalization", "normalize_words", "protect")
_OF_WORDS = ("source_language", "target_language", "tokenizer", "subwords", "right_to_left", *_UNITS)
"""The settings of the data that a translation depends on."""
_DTYPES = ("F64", "F32", "F16", "BF16")
"""What a tensor of weights may be of, besides int8."""


@dataclass(frozen=True)
class System:
    """A model with its settings and vocabularies."""

    config: Config
    vocabularies: Vocabularies
    model: RNNsearch
    alignment_layer: AlignmentLayer | None = None
    """What links words better than the model's attention, if it was learned."""

    def fingerprint(self) -> str:
        """A hash of all but the weights that a translation depends on; settings that have their defaults are left out."""
        sections = {"model": vars(self.config.model), "data": {key: getattr(self.config.data, key) for key in _OF_WORDS}}
        usual = {"model": vars(ModelConfig()), "data": vars(DataConfig())}
        found = hashlib.sha256()
        for section, values in sections.items():
            own = {key: value for key, value in values.items() if not key.startswith("_")}
            changed = {key: value for key, value in own.items() if value != usual[section][key]}
            found.update(json.dumps(changed, sort_keys=True).encode())
        for vocabulary in self.vocabularies:
            found.update("\n".join(vocabulary.words).encode("utf-8", "surrogatepass"))
            found.update(vocabulary.subwords.model if vocabulary.subwords else b"\0")
        return found.hexdigest()

    def seen(self, source: Sequence[str], target: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """What the model sees of the words of a given pair: symbols for spans that both sides have."""
        data = self.config.data
        if not data.protects:
            return source, target
        return pair_as_symbols(source, target, (data.source_language, data.target_language))

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Any, ...]]:
        """A pickle, for another process, holds settings, vocabularies and weights, and needs no folder."""
        parts: list[nn.Module | None] = [self.model, self.alignment_layer]
        weights = [None if part is None else {name: t.numpy() for name, t in _tensors(part).items()} for part in parts]
        device = str(next(self.model.parameters()).device)
        return _unpickled, (to_dict(self.config), self.vocabularies, *weights, device)


def _unpickled(
    settings: dict[str, Any],
    vocabularies: Vocabularies,
    weights: dict[str, NDArray[Any]],
    layer_weights: dict[str, NDArray[Any]] | None,
    device: str,
) -> System:
    config = from_dict(settings)
    model = RNNsearch(config.model, *map(len, vocabularies))
    layer = None if layer_weights is None else AlignmentLayer(model)
    for part, arrays in ((model, weights), (layer, layer_weights)):
        if part is not None and arrays is not None:
            copy_weights(Path("pickle"), {name: torch.from_numpy(array) for name, array in arrays.items()}, part)
            part.to(device if torch.cuda.is_available() else "cpu").eval()
    return System(config, vocabularies, model, layer)


def _tensors(part: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu() for name, tensor in part.named_parameters()}


def new_system(config: Config, vocabularies: Vocabularies) -> System:
    """A system with freshly initialised weights; `RnnsearchError` if it is too large to be trained here."""
    check_memory(config.model, len(vocabularies.source), len(vocabularies.target), TRAINING_COPIES)
    model = RNNsearch(config.model, *map(len, vocabularies))
    model.initialize(config.training.initialization, config.training.seed)
    return System(config, vocabularies, model)


def check_memory(config: ModelConfig, source_words: int, target_words: int, copies: int = 1) -> None:
    """Raise RnnsearchError where a model with these vocabularies, `copies` times, is larger than this computer's memory."""
    with torch.device("meta"):
        parameters = RNNsearch(config, source_words, target_words).count_parameters()
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not tell
        return
    needed = 4 * parameters * copies
    if needed > there:
        raise RnnsearchError(
            f"the model has {parameters / 1e6:,.0f} million parameters and takes {needed / 1e9:,.0f} GB; this computer has "
            f"{there / 1e9:,.0f} GB of memory: give it smaller sizes or fewer layers (model.*), or smaller vocabularies"
        )


def save_settings(folder: Path, system: System) -> None:
    """Write all but the weights: settings and vocabularies."""
    system.vocabularies.save(folder)
    write_json(folder / CONFIG, to_dict(system.config))


def save_weights(path: Path, system: System, precision: WeightPrecision = "fp32") -> None:
    """Write the weights, under the names of `docs/reference/symbols.md`, whole or not at all.

    With `int8`, matrices are written as integers and scales (`rnnsearch.ops.packed.quantize`), vectors as float32.
    """
    _save_part(path, system, system.model, precision)


def save_alignment_layer(folder: Path, system: System, precision: WeightPrecision = "fp32") -> None:
    """Write the alignment layer of a system into the folder of its model, as `save_weights` writes the model."""
    assert system.alignment_layer is not None
    _save_part(folder / ALIGNMENT_LAYER, system, system.alignment_layer, precision)


def _save_part(path: Path, system: System, part: nn.Module, precision: WeightPrecision) -> None:
    tensors = _tensors(part)
    if precision == "int8":
        for name, tensor in list(tensors.items()):
            if tensor.dim() == 2:
                tensors[name], tensors[name + SCALE] = quantize(tensor)
    # One entry: the order of several is not always the same.
    header = {"crc32": checksum(tensors), "of": system.fingerprint()}
    save_tensors(path, tensors, {_HEADER: json.dumps(header)})


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file, whole or not at all. Raises RnnsearchError for a name that safetensors does not take."""
    check_name(path)
    with atomic_write(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, dict(metadata))


def check_name(path: Path) -> None:
    """Raise RnnsearchError for a name that is not UTF-8: safetensors neither reads nor writes such a file."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RnnsearchError(f"{path}: the name is not UTF-8, and so no model can be there; give another folder") from None


def checksum(tensors: Mapping[str, Tensor], *texts: str) -> str:
    """The CRC-32 of tensors, in the order of their names, and of texts, which finds every byte that has changed."""
    found = 0
    for _, tensor in sorted(tensors.items()):
        found = zlib.crc32(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data, found)
    for text in texts:
        found = zlib.crc32(text.encode(), found)
    return f"{found:08x}"


def export_model(folder: Path, output: Path, precision: WeightPrecision) -> None:
    """Write a copy of a model for sharing: weights in this precision, and its other files that others need (`SHARED`).

    The copy translates, and can be trained further with `train --from`; text and checkpoints stay behind. Raises
    RnnsearchError where `folder` is not a model or has a file that is a link to something outside of it, or where `output`
    is a model already.
    """
    if (output / WEIGHTS).exists():
        raise RnnsearchError(f"{output}: there is a model in it already; give another --output")
    weights = [folder / WEIGHTS, *further_weights(folder)]
    written = [*weights, folder / ALIGNMENT_LAYER]
    files = shared_files(folder)
    check_inside(folder, files)
    systems = load_members(folder)
    for path in (path for path in files if path not in written):
        with atomic_write(output / path.name) as temporary:
            shutil.copyfile(path, temporary)
    if systems[0].alignment_layer is not None:
        save_alignment_layer(output, systems[0], precision)
    for path, system in reversed(list(zip(weights, systems, strict=True))):
        save_weights(output / path.name, system, precision)


def load_system(folder: str | os.PathLike[str], device: str | torch.device = "cpu") -> System:
    """Read a model folder, and of an ensemble's the first model; `RnnsearchError` if something in it is missing, cut short,
    or does not fit.
    """
    folder = Path(folder)
    config = read_model_config(folder)
    vocabularies = Vocabularies.load(folder, config.data)
    check_memory(config.model, len(vocabularies.source), len(vocabularies.target))
    if not (folder / WEIGHTS).exists():
        raise RnnsearchError(
            f"{folder}: no {WEIGHTS} yet; training writes it at its first validation (training.validate_every)"
        )
    system = _with_weights(config, vocabularies, folder / WEIGHTS, device)
    if not (folder / ALIGNMENT_LAYER).exists():
        return system
    if not system.model.aligns:
        raise RnnsearchError(f"{folder / ALIGNMENT_LAYER}: the model of this folder has no alignment; remove the file")
    with torch.device("meta"):
        check_weights(folder / ALIGNMENT_LAYER, AlignmentLayer(system.model))
    layer = AlignmentLayer(system.model).to(device).eval()
    _copy_of(folder / ALIGNMENT_LAYER, system, layer)
    return replace(system, alignment_layer=layer)


def load_members(folder: str | os.PathLike[str], device: str | torch.device = "cpu") -> list[System]:
    """Read all models of a folder: one, or those of an ensemble. Raises RnnsearchError as `load_system` does."""
    first = load_system(folder, device)
    paths = further_weights(Path(folder))
    return [first, *(_with_weights(first.config, first.vocabularies, path, device) for path in paths)]


def check_single(folder: str | os.PathLike[str]) -> None:
    """RnnsearchError where the folder has several models."""
    count = 1 + len(further_weights(Path(folder)))
    if count > 1:
        raise RnnsearchError(f"{os.fspath(folder)}: an ensemble of {count} models; give a folder of one model")


def _with_weights(config: Config, vocabularies: Vocabularies, path: Path, device: str | torch.device) -> System:
    """The system with these weights. Memory is taken for it only after the file was found to have all of them."""
    with torch.device("meta"):
        model = RNNsearch(config.model, *map(len, vocabularies))
    check_weights(path, model)
    system = System(config, vocabularies, RNNsearch(config.model, *map(len, vocabularies)).to(device).eval())
    _copy_of(path, system, system.model)
    return system


def _copy_of(path: Path, system: System, part: nn.Module) -> None:
    """Read the weights of a part of the system from this file; RnnsearchError where they are of another one."""
    tensors, header = _read_weights(path, part)
    copy_weights(path, tensors, part)
    if "of" in header and header["of"] != system.fingerprint():
        raise RnnsearchError(
            f"{path.parent}: {path.name} is not of this {CONFIG} and these vocabularies; copy all files of the model "
            "together"
        )


def load_systems(folders: Sequence[str | os.PathLike[str]], device: str | torch.device = "cpu") -> list[list[System]]:
    """Read several model folders, each with one model or more (`load_members`).

    Raises RnnsearchError if two that write in the same direction have different vocabularies.
    """
    systems = [load_members(folder, device) for folder in folders]
    first: dict[bool, tuple[str | os.PathLike[str], System]] = {}
    for folder, (system, *_) in zip(folders, systems, strict=True):
        before, like = first.setdefault(system.config.data.right_to_left, (folder, system))
        side = system.vocabularies.differing_side(like.vocabularies)
        if side is not None:
            raise RnnsearchError(
                f"{os.fspath(folder)}: its {side} vocabulary is not that of {os.fspath(before)}; models that work together "
                "are trained on the same prepared data (`rnnsearch prepare`, then `train --data`)"
            )
    return systems


def load_weights(path: Path, model: RNNsearch) -> None:
    """Read weights into `model`."""
    copy_weights(path, _read_weights(path, model)[0], model)


def check_weights(path: Path, part: nn.Module) -> None:
    """Raise RnnsearchError unless the file has exactly the weights of a part of a model; no tensor is read."""
    check_name(path)
    try:
        check_header(path)
        with safe_open(path, "pt") as file:
            _check_layout(path, file, part)
    except (SafetensorError, OSError, ValueError) as error:
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _check_layout(path: Path, file: Any, part: nn.Module) -> None:
    """Compare the names, types and shapes of the tensors in an open file with those of a part of a model.

    A matrix that is int8 has a scale for each of its rows beside it.
    """
    slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    found = {present_name(name): (one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()}
    if len(found) < len(slices):
        raise RnnsearchError(f"{path}: one tensor is there under two names; copy the file again")
    for name, parameter in part.named_parameters():
        if name not in found:
            raise RnnsearchError(f"{path}: no tensor {name!r}, which config.json asks for")
        dtype, shape = found.pop(name)
        if shape != tuple(parameter.shape):
            raise RnnsearchError(
                f"{path}: {name} is {shape}, but config.json and the vocabularies make it {tuple(parameter.shape)}"
            )
        if dtype == "I8":
            scale = found.pop(name + SCALE, None)
            if parameter.dim() != 2 or scale is None or scale[0] not in _DTYPES or scale[1] != shape[:1]:
                raise RnnsearchError(f"{path}: {name} is int8, but {name + SCALE} has not one scale for each row")
        elif dtype not in _DTYPES:
            raise RnnsearchError(f"{path}: {name} is of {dtype}; weights are floating-point numbers, or int8 with scales")
    if found:
        raise RnnsearchError(f"{path}: {shown(min(found))} is no tensor of the model that config.json describes")


def _read_weights(path: Path, part: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of the weight file of a part of a model, and what its header says: nothing in a file of version 0.1."""
    tensors, metadata = read_tensors(path, part)
    try:
        header = parse_json(metadata.get(_HEADER, "{}"))
        intact = isinstance(header, dict) and ("crc32" not in header or header["crc32"] == checksum(tensors))
    except ValueError:
        intact = False
    if not intact:
        raise RnnsearchError(f"{path}: damaged: these are not the weights that were written; copy the file again")
    return _as_floats(tensors), header


def read_tensors(path: Path, part: nn.Module | None = None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, under the names that they have now, and its metadata: both of one moment.

    Where they are the weights of a part of a model, they are compared with it before they are read.
    """
    check_name(path)
    try:
        while True:
            before = _identity(path)
            check_header(path)
            with safe_open(path, "pt") as file:
                if part is not None:
                    _check_layout(path, file, part)
                tensors = {present_name(name): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                metadata = dict(file.metadata() or {})
                # safetensors opens the file twice; a training that saves it may have come between the two.
                if _identity(path) == before:
                    return tensors, metadata
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:  # the latter two: a type unknown here
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _identity(path: Path) -> tuple[int, int, int]:
    """What a file that replaces this one does not share with it."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _as_floats(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, int8 ones as float32."""
    tensors = dict(tensors)
    for name, tensor in list(tensors.items()):
        if tensor.dtype == torch.int8:
            tensors[name] = tensor.float() * tensors.pop(name + SCALE).float().unsqueeze(1)
    return tensors


def copy_weights(path: Path, tensors: dict[str, Tensor], model: nn.Module) -> None:
    """Copy tensors by name into the parameters of a model, or a part of one; `path` is where they came from, for errors."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in tensors:
                raise RnnsearchError(f"{path}: no tensor {name!r}, which config.json asks for")
            if not tensors[name].is_floating_point():
                raise RnnsearchError(f"{path}: {name} is of {tensors[name].dtype}; weights are floating-point numbers")
            if tensors[name].shape != parameter.shape:
                raise RnnsearchError(
                    f"{path}: {name} is {tuple(tensors[name].shape)}, but config.json and the vocabularies make it "
                    f"{tuple(parameter.shape)}"
                )
            parameter.copy_(tensors[name])
            if not all(bound.isfinite() for bound in parameter.aminmax()):
                raise RnnsearchError(
                    f"{path}: {name} has a number that is not finite: nothing can be computed with it; get the model "
                    "again, or train it with a lower training.learning_rate"
                )
