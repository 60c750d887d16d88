"""The device that `gpu.py` measures, and the roofline: the time of the matrix products alone."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.lib.record import seconds_alone

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

Product = tuple[int, int, int, int]
"""A batch of B products of (m, k) with (k, n) matrices: B, m, k, n."""


class Products(TorchDispatchMode):
    """Counts the products of matrices that are computed within it."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[Product] = Counter()
        self.updates = 0

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = operator.overloadpacket.__name__.rstrip("_")
        if name in ("mm", "bmm", "addmm", "baddbmm"):
            a, b = args[1:3] if "add" in name else args[:2]
            self.counts[(len(a) if a.dim() == 3 else 1, *a.shape[-2:], b.shape[-1])] += 1
        return operator(*args, **(kwargs or {}))


def product_seconds(shape: Product, dtype: torch.dtype) -> float:
    """How long one such product takes, of many that are launched at once."""
    from rnnsearch.ops.recurrence_cuda import product

    batch, m, k, n = shape
    if 0 in shape:
        return 0.0
    a, b = (torch.randn(batch, *sides, device=DEVICE).to(dtype) for sides in ((m, k), (k, n)))
    if batch == 1:
        a, b = a[0], b[0]
    out = torch.empty(*a.shape[:-1], n, device=DEVICE)
    if DEVICE.type == "cpu":
        return seconds_alone(lambda: product(a, b, out))
    times = 10
    for _ in range(2):
        product(a, b, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            product(a, b, out)
    graph.replay()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1000 / times


@contextlib.contextmanager
def tf32(allow: bool) -> Iterator[None]:
    """Within it, float32 products may be computed in TF32, or may not."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if allow else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def synchronize() -> None:
    """Wait until the GPU has done all that it was asked for."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def memory() -> dict[str, float] | None:
    """The most that tensors have taken, and that PyTorch has reserved for them and for graphs."""
    if DEVICE.type == "cpu":
        return None
    tensors, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    return {"tensors": round(tensors / 2**30, 2), "reserved": round(reserved / 2**30, 2)}
