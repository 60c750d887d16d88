"""The recurrences that have a derivative derived by hand, and what implements them on which device.

They take and return tensors alone. What the model does in the same place step by step, in plain PyTorch, is their reference:
`Cell.unroll` and `Decoder.unroll` of `rnnsearch.model`. Letters are those of `rnnsearch.model`.
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
    """The gated hidden unit run over whole sequences, alone and with additive attention at every step.

    Differentiable with respect to every tensor but the masks. Weights are `U` (N, N) and `U_zr` = [U_z ; U_r] (2N, N);
    `inputs` hold what does not depend on the state, side by side for candidate, update gate and reset gate (G = 3N).
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
        """s_t = f(s_{t−1}, inputs_t) from s_0, the first step first, or the last with `reverse`: states (T, B, N).

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
        """α_t, c_t = additive attention with s_{t−1}; then s_t = f(s_{t−1}, inputs_t + C c_t), for t = 1 … T.

        Returns s_0 … s_T (T + 1, B, N), c_1 … c_T (T, B, C) and α_1 … α_T (T, B, S). `keys` are U_a h. What comes of steps
        where `mask_TB` is False, past a sentence's end, is undefined, and nothing may depend on it.
        """
        ...


def choose_recurrences(name: str, device: torch.device, precision: Precision = "fp32") -> Recurrences | None:
    """What `training.engine` calls `name`; None is the reference, the model's own plain code.

    `auto` is `cuda` on an NVIDIA GPU where Triton is installed, and `fused` elsewhere. Raises RnnsearchError where `cuda` is
    asked for and cannot be had.
    """
    has_triton = importlib.util.find_spec("triton") is not None
    if name == "auto":
        name = "cuda" if device.type == "cuda" and has_triton else "fused"
    if name == "reference":
        return None
    if name == "fused":
        return CpuRecurrences(precision)
    if device.type != "cuda" or not has_triton:
        missing = "Triton is not installed (pip install triton)" if device.type == "cuda" else f"this is a {device.type}"
        raise RnnsearchError(f"training.engine = cuda: {missing}; use auto")
    from rnnsearch.ops.recurrence_cuda import CudaRecurrences

    return CudaRecurrences(precision)
