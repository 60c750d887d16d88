"""Files of PyTorch tensors in the format of safetensors: checkpoints, and weights from which training continues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from rnnsearch import weight_files
from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import with_weights
from rnnsearch.system import System, model_shapes
from rnnsearch.untrusted import check_header
from rnnsearch.weight_files import check_name, read_weights
from rnnsearch.weight_names import present_name


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically. Raises RnnsearchError for a file name that safetensors does not accept."""
    check_name(path)
    with atomic_write(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, dict(metadata))


def checksum(tensors: Mapping[str, Tensor], *texts: str) -> str:
    """Return the CRC-32 checksum of tensors, in the order of their names, and of texts."""
    arrays = {
        name: tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy() for name, tensor in tensors.items()
    }
    return weight_files.checksum(arrays, *texts)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a safetensors file, under their present names, and its metadata.

    Raises RnnsearchError if the file is damaged.
    """
    check_name(path)
    try:
        check_header(path)
        with safe_open(path, "pt") as file:
            tensors = {present_name(name): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return tensors, dict(file.metadata() or {})
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:  # the last two: an unknown type
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


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


def load_weights(path: Path, system: System) -> None:
    """Read the weights of a file into the model of `system`. Raises RnnsearchError if they are damaged or do not fit."""
    weights, _ = read_weights(path, model_shapes(system.config.model, *map(len, system.vocabularies)))
    with_weights(system.model, weights.__getitem__)
