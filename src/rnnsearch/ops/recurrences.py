"""The interface of the recurrences with derivatives derived by hand, and the choice of their implementation.

The recurrences take and return tensors only. Their reference is the step-by-step PyTorch code of `Cell.unroll` and
`Decoder.unroll` in `rnnsearch.model`, which also defines the letters of tensor names.
"""

from __future__ import annotations

import importlib.util
from typing import Protocol

import torch
from torch import Tensor

from rnnsearch.errors import RnnsearchError
from rnnsearch.ops.matmul import Precision
from rnnsearch.ops.recurrence_cpu import CpuRecurrences


class Recurrences(Protocol):
    """The gated hidden unit over whole sequences, alone or with additive attention at every step.

    The functions are differentiable with respect to every tensor except the masks. Weights are `U` (N, N) and
    `U_zr` = [U_z ; U_r] (2N, N); `inputs` hold the projections that do not depend on the state, concatenated for candidate,
    update gate and reset gate (G = 3N).
    """

    def gated(
        self,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        mask_TB: Tensor | None,
        U: Tensor,
        U_zr: Tensor,
        reverse: bool = False,
    ) -> Tensor:
        """Return the states s_t = f(s_{t−1}, inputs_t), (T, B, N), from s_0; `reverse` runs from the last step to the first.

        Where the mask is False, outside a sentence, the state is zero.
        """
        ...

    def attentive(
        self,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        annotations_BSC: Tensor,
        keys_BSA: Tensor,
        mask_BS: Tensor,
        mask_TB: Tensor | None,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        U_zr: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """For t = 1 … T, compute α_t and c_t by additive attention with s_{t−1}, then s_t = f(s_{t−1}, inputs_t + C c_t).

        Returns s_0 … s_T (T + 1, B, N), c_1 … c_T (T, B, C) and α_1 … α_T (T, B, S). `keys` are U_a h_j. Results of steps
        where `mask_TB` is False, past a sentence's end, are undefined, and nothing may depend on them.
        """
        ...


def choose_recurrences(name: str, device: torch.device, precision: Precision = "fp32") -> Recurrences | None:
    """Return the implementation that `training.engine` names; None for `reference`, the model's own step-by-step code.

    `auto` selects `cuda` on an NVIDIA GPU if Triton is installed, and `fused` otherwise. Raises RnnsearchError if `cuda` is
    requested but not available.
    """
    has_triton = importlib.util.find_spec("triton") is not None
    if name == "auto":
        name = "cuda" if device.type == "cuda" and has_triton else "fused"
    if name == "reference":
        return None
    if name == "fused":
        return CpuRecurrences(precision)
    if device.type != "cuda" or not has_triton:
        missing = "Triton is not installed (pip install triton)" if device.type == "cuda" else f"the device is {device.type}"
        raise RnnsearchError(f"training.engine = cuda: {missing}; use auto")
    from rnnsearch.ops.recurrence_cuda import CudaRecurrences

    return CudaRecurrences(precision)
