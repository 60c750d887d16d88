"""Model folders, which contain `config.json`, `model.safetensors` and the two vocabularies.

Nothing is unpickled when a model folder is read. The header of `model.safetensors` has a checksum of the tensors, which
reveals changed bytes, and a hash of the configuration and vocabularies to which they belong, which reveals files of another
model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize, safe_open
from safetensors.numpy import save_file

from rnnsearch import plugins
from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import Config, DataConfig, ModelConfig, from_dict, to_dict
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.shapes import Shapes, alignment_layer_shapes, shapes_of_package
from rnnsearch.graphs.weights import Weights
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, SCALE, WEIGHTS, further_weights, read_model_config, shared_files
from rnnsearch.text import Vocabularies
from rnnsearch.text.protected import pair_as_symbols
from rnnsearch.untrusted import check_header, check_inside, parse_json
from rnnsearch.weight_names import present_name

if TYPE_CHECKING:  # translation needs no PyTorch
    from rnnsearch.model import AlignmentLayer, RNNsearch

Arrays = dict[str, NDArray[Any]]

TRAINING_COPIES = 4
"""The number of copies of the weights in memory during training: the weights, their gradient, and two averages of each."""
_HEADER = "rnnsearch"
"""The entry of a weight file's metadata that identifies the model of the weights."""
_UNITS = ("source_units", "target_units", "normalization", "normalize_words", "protect")
_OF_WORDS = ("source_language", "target_language", "tokenizer", "subwords", "right_to_left", *_UNITS)
"""The settings `data.*` on which a translation depends."""
_DTYPES = ("F64", "F32", "F16", "BF16")
"""The types that a tensor of weights may have, besides int8."""


class System:
    """A model with its settings and vocabularies.

    Its weights are arrays, as a file has them, or those of a PyTorch model, which may be trained. A PyTorch model is made of
    arrays when it is first needed.
    """

    def __init__(
        self,
        config: Config,
        vocabularies: Vocabularies,
        model: RNNsearch | Weights,
        alignment_layer: AlignmentLayer | Weights | None = None,
        device: str = "cpu",
    ) -> None:
        """`device` is where a PyTorch model is made. The alignment layer links words better than the model's attention."""
        self.config, self.vocabularies, self._device = config, vocabularies, device
        self._weights = {"model": model, "alignment_layer": alignment_layer}
        for name, part in self._weights.items():
            if part is not None and not isinstance(part, Weights):
                self.__dict__[name] = part

    @property
    def aligns(self) -> bool:
        """Whether the model has an alignment: RNNsearch has one, RNNencdec has none."""
        return self.config.model.alignment != "none"

    @property
    def has_alignment_layer(self) -> bool:
        """Whether there is a layer that links words."""
        return self._weights["alignment_layer"] is not None

    @property
    def parameters(self) -> int:
        """The number of parameters of the model."""
        return sum(math.prod(shape) for shape in model_shapes(self.config.model, *map(len, self.vocabularies)).values())

    @property
    def device(self) -> str:
        """Where PyTorch computes with the model."""
        return str(next(self.model.parameters()).device) if "model" in self.__dict__ else self._device

    @property
    def runs_as_graphs(self) -> bool:
        """Whether ONNX Runtime computes with the model: it is on a CPU, and needs no plugin."""
        return self.device == "cpu" and not plugins.needed(self.config.model.alignment, self.config.model.cell)

    @property
    def weights(self) -> Weights:
        """The weights of the model as they are now."""
        return self._arrays("model")

    @property
    def alignment_layer_weights(self) -> Weights:
        """The weights of the alignment layer as they are now."""
        return self._arrays("alignment_layer")

    def _arrays(self, name: str) -> Weights:
        part = self._weights[name]
        if name in self.__dict__:
            tensors = self.__dict__[name].named_parameters()
            return Weights({key: tensor.detach().cpu().numpy() for key, tensor in tensors})
        assert isinstance(part, Weights)
        return part

    @cached_property
    def model(self) -> RNNsearch:
        """The model in PyTorch."""
        from rnnsearch.model import RNNsearch, with_weights

        model = RNNsearch(self.config.model, *map(len, self.vocabularies))
        return with_weights(model, self._arrays("model").__getitem__).to(self._device).eval()

    @cached_property
    def alignment_layer(self) -> AlignmentLayer | None:
        """The alignment layer as a PyTorch module; None if the model has none."""
        from rnnsearch.model import AlignmentLayer, with_weights

        if not self.has_alignment_layer:
            return None
        layer = AlignmentLayer(self.model)
        return with_weights(layer, self._arrays("alignment_layer").__getitem__).to(self._device).eval()

    def fingerprint(self) -> str:
        """Return a hash of everything on which a translation depends except the weights; default settings are left out."""
        sections = {"model": vars(self.config.model), "data": {key: getattr(self.config.data, key) for key in _OF_WORDS}}
        usual = {"model": vars(ModelConfig()), "data": vars(DataConfig())}
        digest = hashlib.sha256()
        for section, values in sections.items():
            own = {key: value for key, value in values.items() if not key.startswith("_")}
            changed = {key: value for key, value in own.items() if value != usual[section][key]}
            digest.update(json.dumps(changed, sort_keys=True).encode())
        for vocabulary in self.vocabularies:
            digest.update("\n".join(vocabulary.words).encode("utf-8", "surrogatepass"))
            digest.update(vocabulary.subwords.model if vocabulary.subwords else b"\0")
        return digest.hexdigest()

    def changed(self, config: Config, vocabularies: Vocabularies | None = None) -> System:
        """Return the same weights with other settings, or other vocabularies of the same sizes."""
        model, layer = (self.__dict__.get(name, part) for name, part in self._weights.items())
        assert model is not None
        return System(config, vocabularies or self.vocabularies, model, layer, self._device)

    def seen(self, source: Sequence[str], target: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a pair as the model sees them, with symbols for protected spans that both sides have."""
        data = self.config.data
        if not data.protects:
            return source, target
        return pair_as_symbols(source, target, (data.source_language, data.target_language))

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Any, ...]]:
        """Return settings, vocabularies and weights for pickling, so that another process needs no folder."""
        arrays = [self.weights.arrays, self.alignment_layer_weights.arrays if self.has_alignment_layer else None]
        return _unpickled, (to_dict(self.config), self.vocabularies, *arrays, self.device)


def _unpickled(
    settings: dict[str, Any], vocabularies: Vocabularies, weights: Arrays, layer_weights: Arrays | None, device: str
) -> System:
    """Return the system that `System.__reduce__` has pickled."""
    if device != "cpu":
        from rnnsearch.devices import default_device

        device = str(default_device())
    layer = None if layer_weights is None else Weights(layer_weights)
    return System(from_dict(settings), vocabularies, Weights(weights), layer, device)


def model_shapes(config: ModelConfig, source_words: int, target_words: int) -> Shapes:
    """Return the names and the shapes of a model's parameters; for a model with a plugin, those of its classes."""
    if not plugins.needed(config.alignment, config.cell):
        return shapes_of_package(config, source_words, target_words)
    from rnnsearch.model import parameter_shapes

    return parameter_shapes(config, source_words, target_words)


def new_system(config: Config, vocabularies: Vocabularies) -> System:
    """Return a system with newly initialised weights. Raises RnnsearchError if it is too large to train on this computer."""
    from rnnsearch.model import RNNsearch

    check_memory(config.model, len(vocabularies.source), len(vocabularies.target), TRAINING_COPIES)
    model = RNNsearch(config.model, *map(len, vocabularies))
    model.initialize(config.training.initialization, config.training.seed)
    return System(config, vocabularies, model)


def check_memory(config: ModelConfig, source_words: int, target_words: int, copies: int = 1) -> None:
    """Raise RnnsearchError if `copies` copies of a model with these vocabularies do not fit into this computer's memory."""
    parameters = sum(math.prod(shape) for shape in model_shapes(config, source_words, target_words).values())
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


def save_weights(path: Path, system: System, precision: Precision = "fp32") -> None:
    """Write the weights atomically, under the names of `docs/reference/symbols.md`.

    With `int8`, matrices are written as integers and scales (`Weights.quantized`), vectors as float32.
    """
    _save_part(path, system, system.weights, precision)


def save_alignment_layer(folder: Path, system: System, precision: Precision = "fp32") -> None:
    """Write the alignment layer of a system into the folder of its model, in the format of `save_weights`."""
    _save_part(folder / ALIGNMENT_LAYER, system, system.alignment_layer_weights, precision)


def _save_part(path: Path, system: System, weights: Weights, precision: Precision) -> None:
    arrays: Arrays = {}
    for name in (name for name in weights.arrays if not name.endswith(SCALE)):
        if precision == "int8" and len(weights.shape(name)) == 2:
            arrays[name], arrays[name + SCALE] = weights.quantized(name)
        else:
            arrays[name] = weights.exactly(name)
    # There is a single entry, because safetensors does not keep the order of several.
    header = {"crc32": checksum(arrays), "of": system.fingerprint()}
    check_name(path)
    with atomic_write(path) as temporary:
        save_file(
            {name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary, {_HEADER: json.dumps(header)}
        )


def check_name(path: Path) -> None:
    """Raise RnnsearchError for a file name that is not UTF-8; safetensors cannot read or write such files."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RnnsearchError(f"{path}: the name is not UTF-8, and so no model can be there; give another folder") from None


def checksum(arrays: Mapping[str, NDArray[Any]], *texts: str) -> str:
    """Return the CRC-32 checksum of arrays, in the order of their names, and of texts."""
    crc = 0
    for _, array in sorted(arrays.items()):
        crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, crc)
    for text in texts:
        crc = zlib.crc32(text.encode(), crc)
    return f"{crc:08x}"


def export_model(folder: Path, output: Path, precision: Precision) -> None:
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
    if systems[0].has_alignment_layer:
        save_alignment_layer(output, systems[0], precision)
    for path, system in reversed(list(zip(weights, systems, strict=True))):
        save_weights(output / path.name, system, precision)


def load_system(folder: str | os.PathLike[str], device: str = "cpu") -> System:
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
    if not system.aligns:
        raise RnnsearchError(f"{folder / ALIGNMENT_LAYER}: the model of this folder has no alignment; remove the file")
    layer = _read_part(folder / ALIGNMENT_LAYER, system, alignment_layer_shapes(config.model))
    return System(config, vocabularies, system.weights, layer, device)


def load_members(folder: str | os.PathLike[str], device: str = "cpu") -> list[System]:
    """Read all models of a folder: one model, or those of an ensemble. Raises RnnsearchError as `load_system` does."""
    first = load_system(folder, device)
    paths = further_weights(Path(folder))
    return [first, *(_with_weights(first.config, first.vocabularies, path, device) for path in paths)]


def check_single(folder: str | os.PathLike[str]) -> None:
    """Raise RnnsearchError if the folder contains an ensemble of several models."""
    count = 1 + len(further_weights(Path(folder)))
    if count > 1:
        raise RnnsearchError(f"{os.fspath(folder)}: an ensemble of {count} models; give a folder of one model")


def _with_weights(config: Config, vocabularies: Vocabularies, path: Path, device: str) -> System:
    """Return a system with the weights of a file."""
    system = System(config, vocabularies, Weights({}), device=device)
    weights = _read_part(path, system, model_shapes(config.model, *map(len, vocabularies)))
    return System(config, vocabularies, weights, device=device)


def _read_part(path: Path, system: System, shapes: Shapes) -> Weights:
    """Read the weights of a part of the system from a file. Raises RnnsearchError if they belong to another system."""
    weights, header = read_weights(path, shapes)
    if "of" in header and header["of"] != system.fingerprint():
        raise RnnsearchError(
            f"{path.parent}: {path.name} is not of this {CONFIG} and these vocabularies; copy all files of the model "
            "together"
        )
    return weights


def load_systems(folders: Sequence[str | os.PathLike[str]], device: str = "cpu") -> list[list[System]]:
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


def _check_layout(path: Path, file: Any, shapes: Shapes) -> None:
    """Raise RnnsearchError unless the tensors of an open file have these names and shapes, and a type of weights.

    An int8 matrix has a further tensor with a scale for each of its rows.
    """
    slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    tensors = {present_name(name): (one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()}
    if len(tensors) < len(slices):
        raise RnnsearchError(f"{path}: one tensor is there under two names; copy the file again")
    for name, expected in shapes.items():
        if name not in tensors:
            raise RnnsearchError(f"{path}: no tensor {name!r}, which config.json asks for")
        dtype, shape = tensors.pop(name)
        if shape != expected:
            raise RnnsearchError(f"{path}: {name} is {shape}, but config.json and the vocabularies make it {expected}")
        if dtype == "I8":
            scale = tensors.pop(name + SCALE, None)
            if len(expected) != 2 or scale is None or scale[0] not in _DTYPES or scale[1] != shape[:1]:
                raise RnnsearchError(f"{path}: {name} is int8, but {name + SCALE} has not one scale for each row")
        elif dtype not in _DTYPES:
            raise RnnsearchError(f"{path}: {name} is of {dtype}; weights are floating-point numbers, or int8 with scales")
    if tensors:
        raise RnnsearchError(f"{path}: {shown(min(tensors))} is no tensor of the model that config.json describes")


def read_weights(path: Path, shapes: Shapes) -> tuple[Weights, dict[str, str]]:
    """Return the weights in a file, and its header, which is empty in files of version 0.1.

    Raises RnnsearchError if the file is damaged or has other weights than those of these shapes.
    """
    arrays, metadata = _read_arrays(path, shapes)
    try:
        header = parse_json(metadata.get(_HEADER, "{}"))
        intact = isinstance(header, dict) and ("crc32" not in header or header["crc32"] == checksum(arrays))
    except ValueError:
        intact = False
    if not intact:
        raise RnnsearchError(f"{path}: damaged: these are not the weights that were written; copy the file again")
    for name, array in arrays.items():
        if array.dtype == np.uint16:  # bfloat16 is the first half of float32
            arrays[name] = (array.astype(np.uint32) << 16).view(np.float32)
    weights = Weights(arrays)
    for name in shapes:
        if not weights.are_finite(name):
            raise RnnsearchError(
                f"{path}: {name} has a number that is not finite: nothing can be computed with it; get the model again, or "
                "train it with a lower training.learning_rate"
            )
    return weights, header


def _read_arrays(path: Path, shapes: Shapes) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays of a safetensors file, under their present names, and its metadata, from one version of the file.

    Raises RnnsearchError if the file is damaged or does not fit.
    """
    check_name(path)
    try:
        while True:
            before = _identity(path)
            check_header(path)
            with safe_open(path, "np") as file:
                _check_layout(path, file, shapes)
                types = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 (no mapping)
                if "BF16" in types.values():  # NumPy has no such numbers
                    arrays = _deserialized(path)
                else:
                    arrays = {present_name(name): file.get_tensor(name) for name in types}
                metadata = dict(file.metadata() or {})
                # safetensors opens the file twice, and a training may have replaced it in between.
                if _identity(path) == before:
                    return arrays, metadata
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:  # the last two: an unknown type
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _deserialized(path: Path) -> Arrays:
    """Return the arrays of a safetensors file, in which those of bfloat16 have the type uint16."""
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1"}
    return {
        present_name(name): np.frombuffer(one["data"], types[one["dtype"]]).reshape(one["shape"])
        for name, one in deserialize(path.read_bytes())
    }


def _identity(path: Path) -> tuple[int, int, int]:
    """Return the inode, the time and the size of a file, which differ from those of a file that replaces it."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
