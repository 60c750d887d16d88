"""Model folders: `config.json`, `model.safetensors` and the two vocabularies.

Reading a model folder never unpickles anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import CONFIG, SCALE, SHARED, WEIGHTS, Config, from_dict, read_model_config, to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch, present_name
from rnnsearch.ops.packed import WeightPrecision, quantize
from rnnsearch.text import Vocabularies


@dataclass(frozen=True)
class System:
    """A model with its settings and vocabularies."""

    config: Config
    vocabularies: Vocabularies
    model: RNNsearch

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Any, ...]]:
        """A pickle, for another process, holds settings, vocabularies and weights, and needs no folder."""
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.model.named_parameters()}
        device = str(next(self.model.parameters()).device)
        return _unpickled, (to_dict(self.config), self.vocabularies, weights, device)


def _unpickled(
    settings: dict[str, Any], vocabularies: Vocabularies, weights: dict[str, NDArray[Any]], device: str
) -> System:
    config = from_dict(settings)
    model = RNNsearch(config.model, *map(len, vocabularies))
    copy_weights(Path("pickle"), {name: torch.from_numpy(array) for name, array in weights.items()}, model)
    return System(config, vocabularies, model.to(device if torch.cuda.is_available() else "cpu").eval())


def new_system(config: Config, vocabularies: Vocabularies) -> System:
    """A system with freshly initialised weights."""
    model = RNNsearch(config.model, *map(len, vocabularies))
    model.initialize(config.training.initialization, config.training.seed)
    return System(config, vocabularies, model)


def save_settings(folder: Path, system: System) -> None:
    """Write all but the weights: settings and vocabularies."""
    system.vocabularies.save(folder)
    write_json(folder / CONFIG, to_dict(system.config))


def save_weights(path: Path, model: RNNsearch, precision: WeightPrecision = "fp32") -> None:
    """Write the weights, under the names of `docs/reference/symbols.md`, whole or not at all.

    With `int8`, matrices are written as integers and scales (`rnnsearch.ops.packed.quantize`), vectors as float32.
    """
    tensors = {name: tensor.detach().cpu() for name, tensor in model.named_parameters()}
    if precision == "int8":
        for name, tensor in list(tensors.items()):
            if tensor.dim() == 2:
                tensors[name], tensors[name + SCALE] = quantize(tensor)
    with atomic_write(path) as temporary:
        save_file(tensors, temporary)


def export_model(folder: Path, output: Path, precision: WeightPrecision) -> None:
    """Write a copy of a model for sharing: weights in this precision, and its other files that others need (`SHARED`).

    The copy translates, and can be trained further with `train --from`; text and checkpoints stay behind. Raises
    RnnsearchError where `folder` is not a model, or `output` is one already.
    """
    if (output / WEIGHTS).exists():
        raise RnnsearchError(f"{output}: there is a model in it already; give another --output")
    system = load_system(folder)
    for path in (path for pattern in SHARED for path in sorted(folder.glob(pattern)) if path.name != WEIGHTS):
        with atomic_write(output / path.name) as temporary:
            temporary.write_bytes(path.read_bytes())
    save_weights(output / WEIGHTS, system.model, precision)


def load_system(folder: str | os.PathLike[str], device: str | torch.device = "cpu") -> System:
    """Read a model folder; `RnnsearchError` if something in it is missing, cut short, or does not fit."""
    folder = Path(folder)
    config = read_model_config(folder)
    vocabularies = Vocabularies.load(folder, config.data.subwords, config.data.right_to_left)
    model = RNNsearch(config.model, *map(len, vocabularies))
    if not (folder / WEIGHTS).exists():
        raise RnnsearchError(
            f"{folder}: no {WEIGHTS} yet; training writes it at its first validation (training.validate_every)"
        )
    load_weights(folder / WEIGHTS, model)
    return System(config, vocabularies, model.to(device).eval())


def load_systems(folders: Sequence[str | os.PathLike[str]], device: str | torch.device = "cpu") -> list[System]:
    """Read several model folders; `RnnsearchError` if two that write in the same direction have different vocabularies."""
    systems = [load_system(folder, device) for folder in folders]
    first: dict[bool, tuple[str | os.PathLike[str], System]] = {}
    for folder, system in zip(folders, systems, strict=True):
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
    copy_weights(path, read_tensors(path), model)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, those of version 0.1 under the names that they have now, int8 as float32."""
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None
    for name, tensor in list(tensors.items()):
        if tensor.dtype == torch.int8:
            scale = tensors.pop(name + SCALE, None)
            if scale is None or scale.shape != tensor.shape[:1] or not scale.is_floating_point():
                raise RnnsearchError(f"{path}: {name} is int8, but {name + SCALE} has not one scale for each row")
            tensors[name] = tensor.float() * scale.float().unsqueeze(1)
    return {present_name(name): tensor for name, tensor in tensors.items()}


def copy_weights(path: Path, tensors: dict[str, Tensor], model: RNNsearch) -> None:
    """Copy tensors by name into the model's parameters; `path` is where they came from, for errors."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in tensors:
                raise RnnsearchError(f"{path}: no tensor {name!r}, which config.json asks for")
            if tensors[name].shape != parameter.shape:
                raise RnnsearchError(
                    f"{path}: {name} is {tuple(tensors[name].shape)}, but config.json and the vocabularies make it "
                    f"{tuple(parameter.shape)}"
                )
            parameter.copy_(tensors[name])
