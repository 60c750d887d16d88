"""Weights that come as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import nn

Part = TypeVar("Part", bound=nn.Module)


@torch.no_grad()
def with_weights(part: Part, weight: Callable[[str], NDArray[Any]]) -> Part:
    """Set the parameters of a model, or of a part of one, to those of their names, and return it."""
    for name, parameter in part.named_parameters():
        parameter.copy_(torch.from_numpy(weight(name)))
    return part
