"""Dropout (Srivastava et al. 2014) with masks that every core computes by hashing.

PyTorch generates masks sequentially on one core, which takes a tenth of a training step. Here, a mask is a hash of a seed
and of the position in the tensor: every core computes its part of the mask, and the backward pass needs only the seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnsearch.ops import loops
from rnnsearch.ops.loops import kernel

if loops.AVAILABLE:
    from numba import carray

    from rnnsearch.ops.loops import share

f32, f64, u32 = np.float32, np.float64, np.uint32


def dropout(x: Tensor, probability: float) -> Tensor:
    """Zero each element of x with this probability, and scale the other elements so that the mean is preserved.

    The seed of the mask comes from PyTorch's default generator.
    """
    if not probability:
        return x
    if loops.run_on(x):
        y: Tensor = _Dropout.apply(x, probability, int(torch.randint(1 << 32, ())))
        return y
    return torch.nn.functional.dropout(x, probability)


class _Dropout(torch.autograd.Function):
    """Dropout with the mask of a seed; the derivative applies the same mask to the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, probability: float, seed: int) -> Tensor:
        ctx.probability, ctx.seed = probability, seed
        return _masked(x, probability, seed)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return _masked(gradients[0], ctx.probability, ctx.seed), None, None


def _masked(x: Tensor, probability: float, seed: int) -> Tensor:
    """Return x after multiplication with the mask of a seed."""
    x = x.contiguous()
    y = torch.empty_like(x)
    _mask((x.numel(), probability, seed), x, y)
    return y


@kernel
def _mask(p: Any) -> None:
    """Apply the mask. Scalars: the number of elements n, probability, seed. Tensors: x (n); result: y (n)."""
    scalars = carray(p[0], (3,), f64)
    n, seed = int(scalars[0]), u32(int(scalars[2]))
    # The scale 1 / (1 − probability) preserves the mean.
    limit, scale = u32(int(scalars[1] * 4294967295.0)), f32(1 / (1 - scalars[1]))
    x, y = carray(p[1], (n,), f32), carray(p[2], (n,), f32)
    # An element is zeroed if its hash, a uniform 32-bit integer, is below probability · (2³² − 1).
    # Each thread computes the hashes of its own elements, from their places in the tensor.
    first, last = share(n)
    part, out, start = x[first:last], y[first:last], u32(first)
    for i in range(len(part)):
        # The 32-bit integer hash of Wellons, whose bits are nearly unbiased.
        h = u32(u32(start + u32(i)) ^ seed)
        h = u32(u32(h ^ u32(h >> u32(16))) * u32(0x7FEB352D))
        h = u32(u32(h ^ u32(h >> u32(15))) * u32(0x846CA68B))
        h = u32(h ^ u32(h >> u32(16)))
        out[i] = part[i] * scale if h >= limit else f32(0)
