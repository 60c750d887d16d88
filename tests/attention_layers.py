"""The attention layers of `rnnsearch.nn`, small, for tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from rnnsearch.nn import (
    Attention,
    BahdanauAttention,
    GaussianMixtureAttention,
    LocationAttention,
    MonotonicAttention,
)

B, S, K, Q, M, A, V = 3, 6, 4, 5, 7, 8, 2
LENGTHS = torch.tensor([6, 2, 4])
MASK = torch.arange(S) < LENGTHS.unsqueeze(1)
DTYPES = (torch.float16, torch.bfloat16, torch.float32)

LAYERS: dict[str, Callable[..., Attention]] = {
    "additive": lambda **more: BahdanauAttention(Q, M, A, **more),
    "normalised": lambda **more: BahdanauAttention(Q, M, A, normalize=True, **more),
    "location": lambda **more: LocationAttention(Q, M, A, filters=3, width=5, **more),
    "cumulative": lambda **more: LocationAttention(Q, M, A, filters=3, width=5, cumulative=True, normalize=True, **more),
    "monotonic": lambda **more: MonotonicAttention(Q, M, A, score_bias=-0.5, **more),
    "mixture": lambda **more: GaussianMixtureAttention(Q, components=2, **more),
}
every_layer = pytest.mark.parametrize("name", LAYERS)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def made(name: str) -> Attention:
    """A layer in float64, whose parameters are all random."""
    layer = LAYERS[name](dtype=torch.float64)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, 0, 0.7)
    return layer.requires_grad_(False)


def same(found: tuple[Tensor, ...], expected: tuple[Tensor, ...], tolerance: float = 1e-12) -> None:
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=tolerance)
