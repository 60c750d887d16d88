"""Which engine runs on which device."""

from __future__ import annotations

import importlib.util

import torch

from rnnsearch.errors import RnnsearchError
from rnnsearch.ops.interface import Engine
from rnnsearch.ops.matmul import Precision
from rnnsearch.ops.recurrence_cpu import Fused
from rnnsearch.ops.reference import Reference


def choose_engine(name: str, device: torch.device, precision: Precision = "fp32") -> Engine:
    """The engine called `name`; `auto` is `cuda` on an NVIDIA GPU where Triton is installed, and else `fused`."""
    has_triton = importlib.util.find_spec("triton") is not None
    if name == "auto":
        name = "cuda" if device.type == "cuda" and has_triton else "fused"
    if name == "reference":
        return Reference()
    if name == "fused":
        return Fused(precision)
    if device.type != "cuda" or not has_triton:
        missing = "Triton is not installed (pip install triton)" if device.type == "cuda" else f"this is a {device.type}"
        raise RnnsearchError(f"training.engine = cuda: {missing}; use auto")
    from rnnsearch.ops.recurrence_cuda import Cuda

    return Cuda(precision)
