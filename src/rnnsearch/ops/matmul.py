"""The choice of the library and the precision for matrix products.

PyTorch computes float32 products on a CPU with MKL, which reaches half of the peak speed on some CPUs, while oneDNN reaches
all of it. The switch that selects oneDNN also permits it to round its factors to bfloat16, which it does on CPUs that have
instructions for it (AMX). Therefore `fast_products` tests the switch, and uses it only if products stay float32.

oneDNN permanently keeps about half a megabyte for every shape of a product. It is therefore used in training, where
minibatches are padded to few different shapes, but not in search, where the shape may change at every step.
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
"""The precision of the factors of a product. Sums are float32, or the precision of the tensors if that is higher."""

LARGEST_ERROR = 2e-6
"""Maximum relative error of a float32 product; the error with bfloat16 is a thousand times as large."""


@contextlib.contextmanager
def fast_products() -> Iterator[None]:
    """A context in which oneDNN computes float32 products, if it does so without loss of precision."""
    if not _stays_float32():
        yield
        return
    # This value selects oneDNN, which nevertheless computes in float32 here, as `_stays_float32` has checked.
    settings = _settings()
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        yield
    finally:
        settings.fp32_precision = before


@functools.cache
def _stays_float32() -> bool:
    """Whether this version of PyTorch has the switch, and products of several shapes keep float32 precision with it."""
    # Some shapes may be rounded and others not, so several are compared with products in float64.
    settings = _settings()
    if not hasattr(settings, "fp32_precision") or not torch.backends.mkldnn.is_available():
        return False
    generator = torch.Generator().manual_seed(0)
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        # Products of several shapes, by all three ways in which PyTorch calls the library.
        for rows, inner, columns in ((1, 64, 256), (80, 512, 512), (300, 256, 1000), (1000, 100, 64)):
            a, b = torch.randn(rows, inner, generator=generator), torch.randn(inner, columns, generator=generator)
            exact = a.double() @ b.double()
            for computed in (a @ b, (b.T.contiguous() @ a.T.contiguous()).T, torch.bmm(a[None], b[None])[0]):
                if (computed.double() - exact).norm() > LARGEST_ERROR * exact.norm():
                    return False
        return True
    except RuntimeError:
        return False
    finally:
        settings.fp32_precision = before


def product(W: Tensor, precision: Precision = "fp32", add: bool = False) -> Callable[[Tensor, Tensor], None]:
    """Return a function of x and y that stores x W in y, or with `add` adds it to y, for loops in which W is constant.

    W is converted once. With `bf16`, both factors are rounded to bfloat16; y keeps its type.
    """
    if precision == "bf16":
        W_16 = W.bfloat16()  # a transposed view is not copied: the copy would take longer than it saves
        if add:
            return lambda x, y: y.add_(x.bfloat16() @ W_16)  # type: ignore[return-value]
        return lambda x, y: y.copy_(x.bfloat16() @ W_16)  # type: ignore[return-value]
    W = W.contiguous()  # a transposed view is a tenth slower
    if add:
        return lambda x, y: y.addmm_(x, W)  # type: ignore[return-value]
    return lambda x, y: torch.mm(x, W, out=y)  # type: ignore[return-value]


def usable_precision(precision: Precision, device: torch.device) -> Precision:
    """Return `precision`, but fp32 instead of bf16 for a CPU that is slower in bfloat16."""
    return "fp32" if precision == "bf16" and device.type == "cpu" and bf16_is_slower() else precision


@functools.cache
def bf16_is_slower() -> bool:
    """Whether this CPU multiplies bfloat16 more slowly than float32, for lack of instructions."""
    has_instructions = _has_bf16_instructions()
    return _bf16_is_slower_by_the_clock() if has_instructions is None else not has_instructions


def _has_bf16_instructions() -> bool | None:
    """Whether the CPU has instructions for bfloat16 products (AVX512-BF16, AMX); None if unknown, as on ARM."""
    checks = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    if platform.machine() not in ("x86_64", "AMD64") or None in checks:
        return None
    return any(check() for check in checks if check is not None)


def _bf16_is_slower_by_the_clock() -> bool:
    """Whether the fastest of several bfloat16 products is slower than the fastest float32 product.

    The products alternate, and only the fastest of each counts, so that other busy programs hardly affect the result.
    """
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
    """A context in which the model's own products have the given precision, in the forward and the later backward pass."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


def full_precision(like: Tensor) -> torch.autocast:
    """A context without autocast, in which only explicit conversions round."""
    return torch.autocast(like.device.type, enabled=False)


def _settings() -> Any:
    """Return PyTorch's settings of oneDNN products; None in versions that lack them."""
    return getattr(torch.backends.mkldnn, "matmul", None)
