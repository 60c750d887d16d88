"""Model folders, which contain `config.json`, `model.safetensors` and the two vocabularies.

Nothing is unpickled when a model folder is read. The header of `model.safetensors` has a checksum of the tensors, which
reveals changed bytes, and a hash of the configuration and vocabularies to which they belong, which reveals files of another
model.
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
"""The number of copies of the weights in memory during training: the weights, their gradient, and two averages of each."""
_HEADER = "rnnsearch"
"""The entry of a weight file's metadata that identifies the model of the weights."""
_UNITS = ("source_units", "target_units", "normalization", "normalize_words", "protect")
_OF_WORDS = ("source_language", "target_language", "tokenizer", "subwords", "right_to_left", *_UNITS)
"""The settings `data.*` on which a translation depends."""
_DTYPES = ("F64", "F32", "F16", "BF16")
"""The types that a tensor of weights may have, besides int8."""


@dataclass(frozen=True)
class System:
    """A model with its settings and vocabularies."""

    config: Config
    vocabularies: Vocabularies
    model: RNNsearch
    alignment_layer: AlignmentLayer | None = None
    """The layer that links words better than the model's attention; None if it was not trained."""

    def fingerprint(self) -> str:
        """Return a hash of everything on which a translation depends except the weights; default settings are left out."""
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
        """Return the words of a pair as the model sees them, with symbols for protected spans that both sides have."""
        data = self.config.data
        if not data.protects:
            return source, target
        return pair_as_symbols(source, target, (data.source_language, data.target_language))

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Any, ...]]:
        """Return settings, vocabularies and weights for pickling, so that another process needs no folder."""
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
    """Return the system that `System.__reduce__` has pickled."""
    config = from_dict(settings)
    model = RNNsearch(config.model, *map(len, vocabularies))
    layer = None if layer_weights is None else AlignmentLayer(model)
    for part, arrays in ((model, weights), (layer, layer_weights)):
        if part is not None and arrays is not None:
            copy_weights(Path("pickle"), {name: torch.from_numpy(array) for name, array in arrays.items()}, part)
            part.to(device if torch.cuda.is_available() else "cpu").eval()
    return System(config, vocabularies, model, layer)


def _tensors(part: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by their names, on the CPU."""
    return {name: tensor.detach().cpu() for name, tensor in part.named_parameters()}


def new_system(config: Config, vocabularies: Vocabularies) -> System:
    """Return a system with newly initialised weights. Raises RnnsearchError if it is too large to train on this computer."""
    check_memory(config.model, len(vocabularies.source), len(vocabularies.target), TRAINING_COPIES)
    model = RNNsearch(config.model, *map(len, vocabularies))
    model.initialize(config.training.initialization, config.training.seed)
    return System(config, vocabularies, model)


def check_memory(config: ModelConfig, source_words: int, target_words: int, copies: int = 1) -> None:
    """Raise RnnsearchError if `copies` copies of a model with these vocabularies do not fit into this computer's memory."""
    with torch.device("meta"):
        parameters = RNNsearch(config, source_words, target_words).count_parameters()
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not report its memory
        return
    needed = 4 * parameters * copies
    if needed > there:
        raise RnnsearchError(
            f"the model has {parameters / 1e6:,.0f} million parameters and takes {needed / 1e9:,.0f} GB; this computer has "
            f"{there / 1e9:,.0f} GB of memory: give it smaller sizes or fewer layers (model.*), or smaller vocabularies"
        )


def save_settings(folder: Path, system: System) -> None:
    """Write the settings and the vocabularies of a system, without the weights."""
    system.vocabularies.save(folder)
    write_json(folder / CONFIG, to_dict(system.config))


def save_weights(path: Path, system: System, precision: WeightPrecision = "fp32") -> None:
    """Write the weights atomically, under the names of `docs/reference/symbols.md`.

    With `int8`, matrices are written as integers and scales (`rnnsearch.ops.packed.quantize`), vectors as float32.
    """
    _save_part(path, system, system.model, precision)


def save_alignment_layer(folder: Path, system: System, precision: WeightPrecision = "fp32") -> None:
    """Write the alignment layer of a system into the folder of its model, in the format of `save_weights`."""
    assert system.alignment_layer is not None
    _save_part(folder / ALIGNMENT_LAYER, system, system.alignment_layer, precision)


def _save_part(path: Path, system: System, part: nn.Module, precision: WeightPrecision) -> None:
    tensors = _tensors(part)
    if precision == "int8":
        for name, tensor in list(tensors.items()):
            if tensor.dim() == 2:
                tensors[name], tensors[name + SCALE] = quantize(tensor)
    # There is a single entry, because safetensors does not keep the order of several.
    header = {"crc32": checksum(tensors), "of": system.fingerprint()}
    save_tensors(path, tensors, {_HEADER: json.dumps(header)})


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically. Raises RnnsearchError for a file name that safetensors does not accept."""
    check_name(path)
    with atomic_write(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, dict(metadata))


def check_name(path: Path) -> None:
    """Raise RnnsearchError for a file name that is not UTF-8; safetensors cannot read or write such files."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RnnsearchError(f"{path}: the name is not UTF-8, and so no model can be there; give another folder") from None


def checksum(tensors: Mapping[str, Tensor], *texts: str) -> str:
    """Return the CRC-32 checksum of tensors, in the order of their names, and of texts."""
    found = 0
    for _, tensor in sorted(tensors.items()):
        found = zlib.crc32(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data, found)
    for text in texts:
        found = zlib.crc32(text.encode(), found)
    return f"{found:08x}"


def export_model(folder: Path, output: Path, precision: WeightPrecision) -> None:
    """Write a copy of a model for sharing: its weights in this precision, and its other files that are shared (`SHARED`).

    The copy can translate, and can be trained further with `train --from`; it has no text and no checkpoints. Raises
    RnnsearchError if `folder` is not a model, if one of its files is a link to a file outside of it, or if `output` is a
    model already.
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
    """Read the model in a folder; if that is an ensemble, its first model.

    Raises RnnsearchError if a file is missing, damaged, or does not fit the others.
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
    """Read all models of a folder: one model, or those of an ensemble. Raises RnnsearchError as `load_system` does."""
    first = load_system(folder, device)
    paths = further_weights(Path(folder))
    return [first, *(_with_weights(first.config, first.vocabularies, path, device) for path in paths)]


def check_single(folder: str | os.PathLike[str]) -> None:
    """Raise RnnsearchError if the folder contains an ensemble of several models."""
    count = 1 + len(further_weights(Path(folder)))
    if count > 1:
        raise RnnsearchError(f"{os.fspath(folder)}: an ensemble of {count} models; give a folder of one model")


def _with_weights(config: Config, vocabularies: Vocabularies, path: Path, device: str | torch.device) -> System:
    """Return a system with the weights of a file; the file is checked before memory for the system is allocated."""
    with torch.device("meta"):
        model = RNNsearch(config.model, *map(len, vocabularies))
    check_weights(path, model)
    system = System(config, vocabularies, RNNsearch(config.model, *map(len, vocabularies)).to(device).eval())
    _copy_of(path, system, system.model)
    return system


def _copy_of(path: Path, system: System, part: nn.Module) -> None:
    """Read the weights of a part of the system from a file. Raises RnnsearchError if they belong to another system."""
    tensors, header = _read_weights(path, part)
    copy_weights(path, tensors, part)
    if "of" in header and header["of"] != system.fingerprint():
        raise RnnsearchError(
            f"{path.parent}: {path.name} is not of this {CONFIG} and these vocabularies; copy all files of the model "
            "together"
        )


def load_systems(folders: Sequence[str | os.PathLike[str]], device: str | torch.device = "cpu") -> list[list[System]]:
    """Read several model folders, each with one or more models (`load_members`).

    Raises RnnsearchError if two models with the same direction (`data.right_to_left`) have different vocabularies.
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
    """Read the weights of a file into `model`. Raises RnnsearchError if they are damaged or do not fit."""
    copy_weights(path, _read_weights(path, model)[0], model)


def check_weights(path: Path, part: nn.Module) -> None:
    """Raise RnnsearchError unless a file has exactly the weights of a part of a model, without reading the tensors."""
    check_name(path)
    try:
        check_header(path)
        with safe_open(path, "pt") as file:
            _check_layout(path, file, part)
    except (SafetensorError, OSError, ValueError) as error:
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _check_layout(path: Path, file: Any, part: nn.Module) -> None:
    """Raise RnnsearchError unless the tensors of an open file have the names, types and shapes of a part of a model.

    An int8 matrix has a further tensor with a scale for each of its rows.
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
    """Return the tensors of a weight file, and its header, which is empty in files of version 0.1.

    Raises RnnsearchError if the file is damaged or has other weights than this part of a model.
    """
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
    """Return the tensors of a safetensors file, under their present names, and its metadata, from one version of the file.

    With `part`, they are compared with the weights of this part of a model before they are read. Raises RnnsearchError if
    the file is damaged or does not fit.
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
                # safetensors opens the file twice, and a training may have replaced it in between.
                if _identity(path) == before:
                    return tensors, metadata
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:  # the last two: an unknown type
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _identity(path: Path) -> tuple[int, int, int]:
    """Return the inode, the time and the size of a file, which differ from those of a file that replaces it."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _as_floats(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors with int8 matrices converted to float32 by their scales."""
    tensors = dict(tensors)
    for name, tensor in list(tensors.items()):
        if tensor.dtype == torch.int8:
            tensors[name] = tensor.float() * tensors.pop(name + SCALE).float().unsqueeze(1)
    return tensors


def copy_weights(path: Path, tensors: dict[str, Tensor], model: nn.Module) -> None:
    """Copy tensors by name into the parameters of a model or a part of one; `path` is their file, for error messages.

    Raises RnnsearchError if a tensor is missing, has a wrong type or shape, or has numbers that are not finite.
    """
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
