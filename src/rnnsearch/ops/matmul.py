"""Which library multiplies matrices on a CPU.

PyTorch sends float32 products to MKL, which on some CPUs runs at half of their speed, while oneDNN's kernels run at the
whole of it. The switch that sends them to oneDNN also allows it to round its factors to bfloat16, which it does where the
CPU has instructions for it (AMX) and not elsewhere. So the switch is tried, and used only where products stay float32.

oneDNN keeps about half a megabyte for every shape of a product that it has seen, for good. So it is for training, whose
minibatches are padded to few different shapes, and not for search, where every step may have another one.
"""

from __future__ import annotations

import contextlib
import functools
import math
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from torch import Tensor

Precision = Literal["fp32", "bf16"]
"""What the factors of a product are rounded to. Sums are float32, or the precision of the tensors if that is higher."""

LARGEST_ERROR = 2e-6
"""Relative error that a float32 product may have; rounding to bfloat16 gives a thousand times as much."""


@contextlib.contextmanager
def fast_products() -> Iterator[None]:
    """Within it, float32 products go to oneDNN if they lose nothing by it; afterwards all is as before."""
    if not _stays_float32():
        yield
        return
    settings = _settings()
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        yield
    finally:
        settings.fp32_precision = before


@functools.cache
def _stays_float32() -> bool:
    """Whether this PyTorch has the switch, and products of several shapes are as exact with it as float32 is."""
    settings = _settings()
    if not hasattr(settings, "fp32_precision") or not torch.backends.mkldnn.is_available():
        return False
    generator = torch.Generator().manual_seed(0)
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        for rows, inner, columns in ((1, 64, 256), (80, 512, 512), (300, 256, 1000), (1000, 100, 64)):
            a, b = torch.randn(rows, inner, generator=generator), torch.randn(inner, columns, generator=generator)
            exact = a.double() @ b.double()
            for ours in (a @ b, (b.T.contiguous() @ a.T.contiguous()).T, torch.bmm(a[None], b[None])[0]):
                if (ours.double() - exact).norm() > LARGEST_ERROR * exact.norm():
                    return False
        return True
    except RuntimeError:
        return False
    finally:
        settings.fp32_precision = before


def product(W: Tensor, precision: Precision = "fp32", add: bool = False) -> Callable[[Tensor, Tensor], None]:
    """A function of x and y that puts x W into y, or adds it to y; for use in a loop, where W stays the same."""
    if precision == "bf16":
        W_16 = W.bfloat16()  # a transposed view stays one: copying it takes longer than its products gain
        if add:
            return lambda x, y: y.add_(x.bfloat16() @ W_16)  # type: ignore[return-value]
        return lambda x, y: y.copy_(x.bfloat16() @ W_16)  # type: ignore[return-value]
    W = W.contiguous()  # a transposed view is a tenth slower
    if add:
        return lambda x, y: y.addmm_(x, W)  # type: ignore[return-value]
    return lambda x, y: torch.mm(x, W, out=y)  # type: ignore[return-value]


def usable_precision(precision: Precision, device: torch.device) -> Precision:
    """The precision itself, or fp32 in place of bf16 on a CPU that is slower in bfloat16."""
    return "fp32" if precision == "bf16" and device.type == "cpu" and bf16_is_slower() else precision


@functools.cache
def bf16_is_slower() -> bool:
    """Whether this CPU takes longer to multiply in bfloat16 than in float32: it has no instructions for it."""
    has_instructions = _has_bf16_instructions()
    return _bf16_is_slower_by_the_clock() if has_instructions is None else not has_instructions


def _has_bf16_instructions() -> bool | None:
    """Whether the CPU multiplies bfloat16 itself (AVX512-BF16, AMX); None if that is not known, as on ARM."""
    questions = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    if platform.machine() not in ("x86_64", "AMD64") or None in questions:
        return None
    return any(question() for question in questions if question is not None)


def _bf16_is_slower_by_the_clock() -> bool:
    """Compare the fastest of several products in either precision, which take turns: other programs may be at work."""
    dtypes = (torch.float32, torch.bfloat16)
    factors = {dtype: (torch.ones(256, 512, dtype=dtype), torch.ones(512, 512, dtype=dtype)) for dtype in dtypes}
    fastest = dict.fromkeys(dtypes, math.inf)
    for _ in range(6):
        for dtype, (a, b) in factors.items():
            begun = time.perf_counter()
            a @ b
            fastest[dtype] = min(fastest[dtype], time.perf_counter() - begun)
    return fastest[torch.bfloat16] > fastest[torch.float32]


def precision_of(device: torch.device, precision: Precision) -> torch.autocast:
    """A context in which the model's own products are of the given precision, forward and, later, backward."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


def full_precision(like: Tensor) -> torch.autocast:
    """A context in which nothing is rounded but by name."""
    return torch.autocast(like.device.type, enabled=False)


def _settings() -> Any:
    """PyTorch's switches for oneDNN products; None before it had them."""
    return getattr(torch.backends.mkldnn, "matmul", None)
