"""The conversion of arrays to the weights of a model, and the shapes of these weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import nn

from rnnsearch.config import ModelConfig
from rnnsearch.model.rnnsearch import RNNsearch

Part = TypeVar("Part", bound=nn.Module)


@torch.no_grad()
def with_weights(part: Part, weight: Callable[[str], NDArray[Any]]) -> Part:
    """Set the parameters of a model, or of a part of one, to the arrays that `weight` returns for their names; return it."""
    for name, parameter in part.named_parameters():
        parameter.copy_(torch.from_numpy(weight(name)))
    return part


def parameter_shapes(config: ModelConfig, source_words: int, target_words: int) -> dict[str, tuple[int, ...]]:
    """Return the names and the shapes of the parameters of a model, without allocating them."""
    with torch.device("meta"):
        model = RNNsearch(config, source_words, target_words)
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
