"""The recurrences on an NVIDIA GPU.

The backward pass is derived by hand, as in the fused recurrences (`recurrence_cpu`). Further optimisations for a GPU:

- A step consists of two matrix products (cuBLAS) and a few kernels (`triton_kernels`); the (B, S, A) intermediate results of
  its attention are never written to memory.
- The context enters a step linearly, C c_i = Σ_j α_ij (C h_j), so all C h_j are one large matrix product before the loop,
  and all c_i are one after it; the same holds for the backward pass.
- The gradient of the keys U_a h_j is summed over the steps after the loop, in registers instead of memory.
- A loop runs as a CUDA graph, because thousands of small kernels take longer to launch than to run.

This module requires Triton, which is installed with PyTorch for Linux and CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rnnsearch.ops import triton_kernels as kernels
from rnnsearch.ops.cuda_graphs import Graphs, Run, Tensors, at_once
from rnnsearch.ops.matmul import Precision, full_precision
from rnnsearch.ops.recurrence_cpu import CpuRecurrences

Settings = tuple[bool, torch.dtype]
"""The settings of a loop: whether it runs in reverse, and the type that the factors of products are rounded to."""


class CudaRecurrences:
    """The recurrences on a GPU, with the interface of `Recurrences`; tensors on other devices go to `CpuRecurrences`.

    With the precision `bf16`, the factors of matrix products are rounded; sums, pointwise functions, states and gradients
    remain float32. With `graphs`, the loops of a training step run as CUDA graphs. Steps past a sentence's end are computed
    as well, since a GPU computes all sentences in parallel.
    """

    def __init__(self, precision: Precision = "fp32", graphs: bool = True) -> None:
        self.precision = precision
        self._graphs = Graphs() if graphs and torch.cuda.is_available() else None
        self._fused = CpuRecurrences(precision)

    def gated(
        self,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        mask_TB: Tensor | None,
        U: Tensor,
        U_zr: Tensor,
        reverse: bool = False,
    ) -> Tensor:
        if not _runs_here(inputs_TBG):
            return self._fused.gated(inputs_TBG, s0_BN, mask_TB, U, U_zr, reverse)
        mask_TB = inputs_TBG.new_ones(inputs_TBG.shape[:2]) if mask_TB is None else mask_TB
        tensors = (_like(U, tensor) for tensor in (inputs_TBG, s0_BN, mask_TB))
        with full_precision(U):
            states_TBN: Tensor = _GatedRecurrence.apply(*self._loop_settings(U), *tensors, U, U_zr, reverse)
        return states_TBN[:-1] if reverse else states_TBN[1:]

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
        if not _runs_here(inputs_TBG):
            return self._fused.attentive(
                inputs_TBG, s0_BN, annotations_BSC, keys_BSA, mask_BS, mask_TB, W_a, v_a, U, U_zr, C
            )
        tensors = (_like(U, tensor) for tensor in (inputs_TBG, s0_BN, annotations_BSC, keys_BSA, mask_BS))
        with full_precision(U):
            outputs: tuple[Tensor, Tensor, Tensor] = _AttentiveRecurrence.apply(
                *self._loop_settings(U), *tensors, W_a, v_a, U, U_zr, C
            )
        return outputs

    def _loop_settings(self, weight: Tensor) -> tuple[Run, torch.dtype]:
        """Return the function that runs loops, and the type to which the factors of matrix products are rounded."""
        # Graphs are for training only: in search, which has no gradient, the shapes vary too much.
        run = self._graphs if self._graphs and weight.is_cuda and torch.is_grad_enabled() else at_once
        rounded = self.precision == "bf16" and weight.dtype == torch.float32
        return run, torch.bfloat16 if rounded else weight.dtype


def _runs_here(tensor: Tensor) -> bool:
    """Whether the kernels accept this tensor: one on a GPU, or any if Triton interprets the kernels."""
    return tensor.is_cuda or kernels.INTERPRETED


def _like(weight: Tensor, tensor: Tensor) -> Tensor:
    """Return the tensor as a contiguous one with the type of the weights; under autocast, its type may differ."""
    return tensor.to(weight.dtype).contiguous()


def product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """Return a b, for matrices or batches of matrices; the product of bfloat16 factors is float32."""
    multiply: Any = torch.mm if a.dim() == 2 else torch.bmm
    if a.dtype != torch.bfloat16:
        result: Tensor = multiply(a, b, out=out)
    elif a.is_cuda:
        result = multiply(a, b, out_dtype=torch.float32, out=out)
    else:
        result = multiply(a.float(), b.float(), out=out)
    return result


def _steps(T: int, reverse: bool) -> Sequence[tuple[int, int, int]]:
    """Return, for each step in order, its index and the indices of the states before and after it among the T + 1 states."""
    return [(t, t + 1, t) for t in reversed(range(T))] if reverse else [(t, t, t + 1) for t in range(T)]


def _forward_loop(
    settings: Settings,
    inputs_TBG: Tensor,
    s0_BN: Tensor,
    mask_TB: Tensor,
    U: Tensor,
    from_state: Tensor,
    *attention: Tensor,
) -> Tensors:
    """Compute all states (T + 1, B, N), and the intermediate results of every step that the backward pass needs.

    These are `projected_TBM` = [z ; r ; W_a s], s~ and r ∘ s (T, B, N), and α (T, B, S) if there is `attention`, which
    consists of keys U_a h_j (B, S, A), values C h_j (B, S, G), mask (B, S) and v_a. `from_state` is [U_z ; U_r ; W_a].
    """
    reverse, factor = settings
    (T, B, _), N = inputs_TBG.shape, s0_BN.shape[1]
    # The results of all steps; in reverse, the initial state is the last one.
    states_TBN = s0_BN.new_empty(T + 1, B, N)
    states_TBN[T if reverse else 0] = s0_BN
    projected_TBM = s0_BN.new_empty(T, B, len(from_state))
    candidate_TBN = s0_BN.new_empty(T, B, N)
    reset_TBN = s0_BN.new_empty(T, B, N, dtype=factor)
    # Weights are rounded once per loop; sums and states stay float32.
    U, from_state = U.to(factor), from_state.to(factor)
    alpha: Tensors = ()
    if attention:
        keys_BSA, values_BSG, mask_BS, v_A = attention
        alpha = (s0_BN.new_empty(T, *mask_BS.shape),)
        energy_BS, attended_BG = torch.empty_like(mask_BS), torch.empty_like(inputs_TBG[0])
    for t, before, after in _steps(T, reverse):
        s_BN, inputs_BG = states_TBN[before], inputs_TBG[t]
        # [U_z s ; U_r s ; W_a s].
        projected_BM = product(s_BN.to(factor), from_state.T, out=projected_TBM[t])
        if attention:
            # e_ij = v_aᵀ tanh(W_a s + U_a h_j) (appendix A.1.2); then α_i (Eq. 6), and inputs + C c_i, which is
            # inputs + Σ_j α_ij (C h_j).
            kernels.energies(projected_BM[:, 2 * N :], keys_BSA, v_A, mask_BS, energy_BS)
            kernels.attend(energy_BS, values_BSG, inputs_BG, alpha[0][t], attended_BG)
            inputs_BG = attended_BG
        # The gated unit (appendix A.1.1): z and r overwrite their projections; then r ∘ s, U [r ∘ s], s~ and s'.
        kernels.gates(projected_BM, inputs_BG, s_BN, reset_TBN[t])
        candidate_BN = product(reset_TBN[t], U.T, out=candidate_TBN[t])
        kernels.update(projected_BM, inputs_BG, s_BN, mask_TB[t], candidate_BN, states_TBN[after])
    return states_TBN, projected_TBM, candidate_TBN, reset_TBN, *alpha


def _backward_loop(
    settings: Settings,
    d_states_TBN: Tensor,
    mask_TB: Tensor,
    U: Tensor,
    from_state: Tensor,
    states_TBN: Tensor,
    projected_TBM: Tensor,
    candidate_TBN: Tensor,
    *attention: Tensor,
) -> Tensors:
    """Compute ∂cost/∂s_0, and `d_step_TBX`, the gradients of every step's projections [candidate ; z ; r ; W_a s].

    With `attention` (keys, values, v_a, α and the gradient of α from outside the loop), it also computes ∂cost/∂e (T, B, S).
    """
    # Backpropagation through time, from the last step to the first.
    reverse, factor = settings
    T, B, N = candidate_TBN.shape
    d_step_TBX = candidate_TBN.new_empty(T, B, N + len(from_state))
    # The gradient of a state has a direct part, from (1 − z) ∘ s and r ∘ s, and one through the projections U_z, U_r, W_a.
    direct_BN, through_BN = d_states_TBN.new_zeros(2, B, N)
    U, from_state = U.to(factor), from_state.to(factor)
    d_energy: Tensors = ()
    if attention:
        keys_BSA, values_BSG, v_A, alpha_TBS, d_alpha_TBS = attention
        d_energy = (torch.empty_like(alpha_TBS),)
        d_alpha_BS = torch.empty_like(alpha_TBS[0])
    for t, before, after in reversed(_steps(T, reverse)):
        # From ∂cost/∂s' to the gradients of the candidate and of z; through U to r ∘ s, and from there to r and s.
        s_BN, projected_BM, d_step_BX = states_TBN[before], projected_TBM[t], d_step_TBX[t]
        kernels.update_backward(
            direct_BN, through_BN, d_states_TBN[after], mask_TB[t], projected_BM, candidate_TBN[t], s_BN, d_step_BX
        )
        d_reset_BN = product(d_step_BX[:, :N].to(factor), U)
        kernels.gates_backward(d_reset_BN, projected_BM, s_BN, d_step_BX, direct_BN)
        if attention:
            # C c_i was added to the inputs, so its gradient is that of the projections. It leads to α, to e and to W_a s.
            query_BA, d_query_BA = projected_BM[:, 2 * N :], d_step_BX[:, 3 * N :]
            kernels.alpha_backward(d_step_BX, values_BSG, d_alpha_TBS[t], d_alpha_BS)
            kernels.query_backward(alpha_TBS[t], d_alpha_BS, query_BA, keys_BSA, v_A, d_energy[0][t], d_query_BA)
        # Through U_z, U_r and W_a to the previous state.
        product(d_step_BX[:, N:].to(factor), from_state, out=through_BN)
    return direct_BN + through_BN + d_states_TBN[T if reverse else 0], d_step_TBX, *d_energy


def _weight_gradients(d_step_TBX: Tensor, reset_TBN: Tensor, before_TBN: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of U and of `from_state`, each computed as one matrix product over all steps."""
    # ∂cost/∂U = Σ_t ∂cost/∂(U [r_t ∘ s_{t−1}]) (r_t ∘ s_{t−1})ᵀ, and the same for `from_state` with s_{t−1}.
    N = reset_TBN.shape[2]
    factor = reset_TBN.dtype
    d_step_XR = d_step_TBX.flatten(0, 1).to(factor).T
    d_U = product(d_step_XR[:N], reset_TBN.flatten(0, 1))
    return d_U, product(d_step_XR[N:], before_TBN.flatten(0, 1).to(factor))


class _GatedRecurrence(torch.autograd.Function):
    """The gated recurrence: s_t = f(s_{t−1}, inputs_t) from s_0, forward or in reverse, zero outside a sentence."""

    @staticmethod
    def forward(
        ctx: Any,
        run: Run,
        factor: torch.dtype,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        mask_TB: Tensor,
        U: Tensor,
        U_zr: Tensor,
        reverse: bool,
    ) -> Tensor:
        ctx.run, ctx.settings = run, (reverse, factor)
        states_TBN, *intermediate = run(_forward_loop, ctx.settings, inputs_TBG, s0_BN, mask_TB, U, U_zr)
        ctx.save_for_backward(mask_TB, U, U_zr, states_TBN, *intermediate)
        return states_TBN

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (d_states_TBN,) = gradients
        mask_TB, U, U_zr, states_TBN, projected_TBM, candidate_TBN, reset_TBN = ctx.saved_tensors
        d_s0_BN, d_step_TBX = ctx.run(
            _backward_loop,
            ctx.settings,
            d_states_TBN.contiguous(),
            mask_TB,
            U,
            U_zr,
            states_TBN,
            projected_TBM,
            candidate_TBN,
        )
        reverse, _ = ctx.settings
        d_U, d_U_zr = _weight_gradients(d_step_TBX, reset_TBN, states_TBN[1:] if reverse else states_TBN[:-1])
        return None, None, d_step_TBX, d_s0_BN, None, d_U, d_U_zr, None


class _AttentiveRecurrence(torch.autograd.Function):
    """The decoder's loop: α_t and c_t from s_{t−1}, then s_t = f(s_{t−1}, inputs_t + C c_t) (appendix A.2.2)."""

    @staticmethod
    def forward(
        ctx: Any,
        run: Run,
        factor: torch.dtype,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        h_BSC: Tensor,
        keys_BSA: Tensor,
        mask_BS: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        U_zr: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        (B, S, _), G = h_BSC.shape, len(C)
        h_BSC = h_BSC.to(factor)
        # C c_i = Σ_j α_ij (C h_j): one product before the loop computes all values C h_j, and one after it all contexts c_i.
        values_BSG = product(h_BSC.flatten(0, 1), C.to(factor).T).view(B, S, G).to(factor)
        mask_TB = s0_BN.new_ones(inputs_TBG.shape[:2])
        from_state = torch.cat([U_zr, W_a])
        ctx.run, ctx.settings = run, (False, factor)
        states_TBN, projected_TBM, candidate_TBN, reset_TBN, alpha_TBS = run(
            _forward_loop,
            ctx.settings,
            inputs_TBG,
            s0_BN,
            mask_TB,
            U,
            from_state,
            keys_BSA,
            values_BSG,
            mask_BS,
            v_a,
        )
        # c_i = Σ_j α_ij h_j (Eq. 5) for all steps at once.
        contexts_TBC = product(alpha_TBS.transpose(0, 1).to(factor), h_BSC).transpose(0, 1)
        ctx.save_for_backward(
            h_BSC,
            keys_BSA,
            values_BSG,
            mask_TB,
            v_a,
            U,
            from_state,
            C,
            states_TBN,
            projected_TBM,
            candidate_TBN,
            reset_TBN,
            alpha_TBS,
        )
        return states_TBN, contexts_TBC, alpha_TBS

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        d_states_TBN, d_contexts_TBC, d_alpha_TBS = gradients
        h_BSC, keys_BSA, values_BSG, mask_TB, v_a, U, from_state, C, states_TBN, *intermediate, alpha_TBS = ctx.saved_tensors
        projected_TBM, candidate_TBN, reset_TBN = intermediate
        _, factor = ctx.settings
        G, N = values_BSG.shape[2], states_TBN.shape[2]
        # The gradient from the readout, which reads c_i: ∂cost/∂α_ij += ∂cost/∂c_i · h_j, for all steps at once.
        d_contexts_BTC = d_contexts_TBC.transpose(0, 1).to(factor)
        d_alpha_TBS = d_alpha_TBS + product(d_contexts_BTC, h_BSC.transpose(1, 2)).transpose(0, 1)
        d_s0_BN, d_step_TBX, d_energy_TBS = ctx.run(
            _backward_loop,
            ctx.settings,
            d_states_TBN.contiguous(),
            mask_TB,
            U,
            from_state,
            states_TBN,
            projected_TBM,
            candidate_TBN,
            keys_BSA,
            values_BSG,
            v_a,
            alpha_TBS,
            d_alpha_TBS.contiguous(),
        )
        # The gradients of the keys U_a h_j and of v_a, summed over the steps, with a recomputed tanh.
        d_keys_BSA, d_v_A = kernels.keys_backward(d_energy_TBS, projected_TBM[:, :, 2 * N :], keys_BSA, v_a)
        # ∂cost/∂(C h_j) = Σ_i α_ij ∂cost/∂inputs_i. The annotations have gradients through the values C h_j and through c_i;
        # the weights have gradients that are summed over all steps.
        d_inputs_TBG = d_step_TBX[:, :, :G]
        alpha_BST = alpha_TBS.permute(1, 2, 0).to(factor)
        d_values_BSG = product(alpha_BST, d_inputs_TBG.transpose(0, 1).to(factor)).to(factor)
        d_values_XG = d_values_BSG.flatten(0, 1)
        d_h_BSC = product(d_values_XG, C.to(factor)).view_as(h_BSC) + product(alpha_BST, d_contexts_BTC)
        d_C = product(d_values_XG.T, h_BSC.flatten(0, 1))
        d_U, d_from_state = _weight_gradients(d_step_TBX, reset_TBN, states_TBN[:-1])
        d_U_zr, d_W_a = d_from_state.split([2 * N, len(v_a)])
        return None, None, d_inputs_TBG, d_s0_BN, d_h_BSC, d_keys_BSA, None, d_W_a, d_v_A, d_U, d_U_zr, d_C
