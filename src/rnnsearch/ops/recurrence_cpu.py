"""The fused recurrences of the gated hidden unit, with a backward pass derived by hand, for any device.

Autograd keeps every intermediate result of every step, and adds a matrix to the gradient of each weight at every step. Here,
the backward loop computes only what is recurrent, the gradient of the state. The gradient of each weight is one matrix
product over all steps after the loop, and tanh(W_a s + U_a h) is recomputed instead of stored. The results equal those of
the model's step-by-step loops up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rnnsearch.ops import pointwise
from rnnsearch.ops.matmul import Precision, full_precision, product


class CpuRecurrences:
    """The fused implementation of `Recurrences`. It runs on any device, with compiled loops for float32 on a CPU."""

    def __init__(self, precision: Precision = "fp32") -> None:
        self.precision = precision

    def gated(
        self,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        mask_TB: Tensor | None,
        U: Tensor,
        U_zr: Tensor,
        reverse: bool = False,
    ) -> Tensor:
        with full_precision(inputs_TBG):
            states_TBN: Tensor = _GatedRecurrence.apply(
                inputs_TBG.to(U.dtype), s0_BN, mask_TB, U, U_zr, reverse, self.precision
            )
            return states_TBN

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
        inputs_TBG = inputs_TBG.to(U.dtype)
        with full_precision(inputs_TBG):
            outputs: tuple[Tensor, Tensor, Tensor] = _AttentiveRecurrence.apply(
                *(inputs_TBG, s0_BN, annotations_BSC, keys_BSA.to(U.dtype), mask_BS.sum(1)),
                *(W_a, v_a, U, U_zr, C, _rows(mask_TB, inputs_TBG), self.precision),
            )
            return outputs


class _GatedStep:
    """A step of the gated unit (appendix A.1.1) and its derivative, for the first `rows` sentences.

    The object stores [z ; r] (T, B, 2N) and s~ (T, B, N) of every step for the backward pass.
    """

    def __init__(self, T: int, like_BN: Tensor, U: Tensor, precision: Precision) -> None:
        B, N = like_BN.shape
        self.zr_TBX = like_BN.new_empty(T, B, 2 * N)
        self.candidate_TBN = like_BN.new_empty(T, B, N)
        self.reset_BN = torch.empty_like(like_BN)
        """A buffer for r ∘ s of the current step, or, in the backward pass, for its gradient."""
        self.from_reset = product(U.T, precision)
        self.to_reset = product(U, precision)

    def forward(
        self,
        t: int,
        rows: int,
        s_BN: Tensor,
        inputs_RG: Tensor,
        context_RG: Tensor | None,
        projected_RM: Tensor,
        mask_R: Tensor | None,
        next_s_BN: Tensor,
    ) -> None:
        """Compute s' in `next_s_BN` from s and the projections of input, context and state; it is zero past `rows`."""
        # The gates z and r, and r ∘ s; then U [r ∘ s]; then the candidate s~ and s' = (1 − z) ∘ s + z ∘ s~.
        zr_RX, candidate_RN, reset_RN = self.zr_TBX[t, :rows], self.candidate_TBN[t, :rows], self.reset_BN[:rows]
        pointwise.gates_forward(inputs_RG, context_RG, projected_RM, s_BN[:rows], zr_RX, reset_RN)
        self.from_reset(reset_RN, candidate_RN)
        pointwise.candidate_forward(inputs_RG, context_RG, zr_RX, s_BN[:rows], mask_R, candidate_RN, next_s_BN[:rows])
        # The weight gradients sum over all rows, so those past `rows` must be zero.
        self.zr_TBX[t, rows:] = 0
        next_s_BN[rows:] = 0

    def backward(
        self,
        t: int,
        rows: int,
        d_s_BN: Tensor,
        added_RN: Tensor | None,
        mask_R: Tensor | None,
        s_BN: Tensor,
        d_row: Tensor,
    ) -> None:
        """Compute the gradients of the projections, in `d_row`, and of s, in `d_s`, from ∂cost/∂s' = `d_s` + `added`.

        On return, `d_s` lacks the part of the gradient that passes through U_z and U_r.
        """
        zr_RX, s_RN, d_row_R, d_s_RN = self.zr_TBX[t, :rows], s_BN[:rows], d_row[:rows], d_s_BN[:rows]
        # From s' to s~ and z; through U to r ∘ s; and from there to r and s.
        d_reset_RN = self.reset_BN[:rows]
        pointwise.candidate_backward(d_s_RN, added_RN, mask_R, zr_RX, self.candidate_TBN[t, :rows], s_RN, d_row_R)
        self.to_reset(d_row_R[:, : s_BN.shape[1]], d_reset_RN)
        pointwise.reset_backward(d_reset_RN, zr_RX, s_RN, d_row_R, d_s_RN)
        d_row[rows:] = 0

    def resets(self, before_TBN: Tensor) -> Tensor:
        """Return r ∘ s (T, B, N) of all steps, from the states s before each step."""
        return self.zr_TBX[..., before_TBN.shape[2] :] * before_TBN


class _GatedRecurrence(torch.autograd.Function):
    """The gated recurrence: s_t = f(s_{t−1}, inputs_t) from s_0, forward or in reverse, zero outside a sentence."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        mask_TB: Tensor | None,
        U: Tensor,
        U_zr: Tensor,
        reverse: bool,
        precision: Precision,
    ) -> Tensor:
        inputs_TBG, s0_BN = inputs_TBG.contiguous(), s0_BN.contiguous()
        T = len(inputs_TBG)
        rows_T = _rows(mask_TB, inputs_TBG)
        mask_TB = None if mask_TB is None else mask_TB.to(s0_BN.dtype).contiguous()
        step = _GatedStep(T, s0_BN, U, precision)
        from_state = product(U_zr.T, precision)
        projected_BM = s0_BN.new_empty(len(s0_BN), len(U_zr))
        states_TBN = s0_BN.new_empty(T, *s0_BN.shape)
        s_BN = s0_BN
        # Each step computes [U_z s ; U_r s] and then the gated unit, of the first `rows` sentences only, which include all
        # unfinished ones.
        for t in reversed(range(T)) if reverse else range(T):
            rows = rows_T[t]
            from_state(s_BN[:rows], projected_BM[:rows])
            mask_R = None if mask_TB is None else mask_TB[t, :rows]
            step.forward(t, rows, s_BN, inputs_TBG[t, :rows], None, projected_BM[:rows], mask_R, states_TBN[t])
            s_BN = states_TBN[t]
        ctx.save_for_backward(s0_BN, mask_TB, U_zr, states_TBN)
        ctx.step, ctx.rows_T, ctx.reverse, ctx.precision = step, rows_T, reverse, precision
        return states_TBN

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        s0_BN, mask_TB, U_zr, states_TBN = ctx.saved_tensors
        d_states_TBN = gradients[0].contiguous()
        step: _GatedStep = ctx.step
        T, N = len(states_TBN), s0_BN.shape[1]
        to_state = product(U_zr, ctx.precision, add=True)
        # The states before each step.
        if ctx.reverse:
            before_TBN = torch.cat([states_TBN[1:], s0_BN.unsqueeze(0)])
        else:
            before_TBN = torch.cat([s0_BN.unsqueeze(0), states_TBN[:-1]])
        # Backpropagation through time: the loop computes ∂cost/∂s_{t−1} from ∂cost/∂s_t, and stores the gradients of the
        # projections [s~ ; z ; r], from which the gradients of the weights follow after the loop.
        d_rows_TBX = s0_BN.new_empty(T, len(s0_BN), 3 * N)
        d_s_BN = torch.zeros_like(s0_BN)
        for t in range(T) if ctx.reverse else reversed(range(T)):
            rows = ctx.rows_T[t]
            mask_R = None if mask_TB is None else mask_TB[t, :rows]
            step.backward(t, rows, d_s_BN, d_states_TBN[t, :rows], mask_R, before_TBN[t], d_rows_TBX[t])
            to_state(d_rows_TBX[t, :rows, N:], d_s_BN[:rows])
            if ctx.reverse:  # past the end of a sentence, the state is constantly zero, so that no gradient passes
                d_s_BN[rows:] = 0
        # ∂cost/∂U = Σ_t ∂cost/∂(U [r_t ∘ s_{t−1}]) (r_t ∘ s_{t−1})ᵀ, and the same for U_z and U_r with s_{t−1}.
        weight_gradient = _weight_gradient(ctx.precision)
        d_U = weight_gradient(d_rows_TBX[..., :N], step.resets(before_TBN))
        d_U_zr = weight_gradient(d_rows_TBX[..., N:], before_TBN)
        return d_rows_TBX, d_s_BN, None, d_U, d_U_zr, None, None


class _AttentiveRecurrence(torch.autograd.Function):
    """The decoder's loop: α_t and c_t from s_{t−1}, then s_t = f(s_{t−1}, inputs_t + C c_t) (appendix A.2.2)."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        h_BSC: Tensor,
        keys_BSA: Tensor,
        lengths_B: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        U_zr: Tensor,
        C: Tensor,
        rows_T: list[int],
        precision: Precision,
    ) -> tuple[Tensor, Tensor, Tensor]:
        inputs_TBG, h_BSC, keys_BSA = inputs_TBG.contiguous(), h_BSC.contiguous(), keys_BSA.contiguous()
        T, (B, S, A), N = len(inputs_TBG), keys_BSA.shape, s0_BN.shape[1]
        # The results of all steps; the backward pass also reads the queries W_a s_{t−1}.
        step = _GatedStep(T, s0_BN, U, precision)
        states_TBN = s0_BN.new_empty(T + 1, B, N)
        contexts_TBC = h_BSC.new_empty(T, B, h_BSC.shape[2])
        alpha_TBS = h_BSC.new_empty(T, B, S)
        queries_TBA = s0_BN.new_empty(T, B, A)
        states_TBN[0] = s0_BN
        from_state = product(torch.cat([U_zr, W_a]).T, precision)
        from_context = product(C.T, precision)
        projected_BM = s0_BN.new_empty(B, 2 * N + A)
        context_BG = s0_BN.new_empty(B, 3 * N)
        # Each step: [U_z s ; U_r s ; W_a s]; then α and c; then C c; then the gated unit, which computes the next state.
        for t, rows in enumerate(rows_T):
            s_BN, contexts_RC, alpha_RS = states_TBN[t], contexts_TBC[t, :rows], alpha_TBS[t, :rows]
            from_state(s_BN[:rows], projected_BM[:rows])
            pointwise.attention_forward(
                *(keys_BSA[:rows], projected_BM[:rows], v_a, h_BSC[:rows], lengths_B[:rows]),
                *(queries_TBA[t, :rows], alpha_RS, contexts_RC),
            )
            from_context(contexts_RC, context_BG[:rows])
            step.forward(
                t, rows, s_BN, inputs_TBG[t, :rows], context_BG[:rows], projected_BM[:rows], None, states_TBN[t + 1]
            )
            # The weight gradients sum over all rows, so finished sentences must be zero.
            contexts_TBC[t, rows:] = 0
            alpha_TBS[t, rows:] = 0
        ctx.save_for_backward(
            h_BSC, keys_BSA, lengths_B, W_a, v_a, U_zr, C, states_TBN, contexts_TBC, alpha_TBS, queries_TBA
        )
        ctx.step, ctx.rows_T, ctx.precision = step, rows_T, precision
        ctx.set_materialize_grads(False)
        return states_TBN, contexts_TBC, alpha_TBS

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        h_BSC, keys_BSA, lengths_B, W_a, v_a, U_zr, C, states_TBN, contexts_TBC, alpha_TBS, queries_TBA = ctx.saved_tensors
        d_states_TBN, d_contexts_TBC, d_alpha_TBS = (None if d is None else d.contiguous() for d in gradients)
        step: _GatedStep = ctx.step
        (T, B, _), N, A = alpha_TBS.shape, states_TBN.shape[2], len(v_a)
        to_state = product(torch.cat([U_zr, W_a]), ctx.precision, add=True)
        to_context = product(C, ctx.precision)
        # The gradients of the projections are concatenated as [s~ ; z ; r ; query], so that those from inputs and contexts
        # (the first three) and those from the state (the last three) need one matrix product each.
        d_rows_TBX = h_BSC.new_empty(T, B, 3 * N + A)
        # As many rows of d_v as threads, so that threads do not write to the same memory.
        d_c_TBC = torch.empty_like(contexts_TBC)
        d_v_XA = v_a.new_zeros(torch.get_num_threads(), A)
        d_keys_BSA = torch.zeros_like(keys_BSA)
        d_s_BN = torch.zeros_like(states_TBN[0])
        # Backpropagation through time: `d_s` is the part of ∂cost/∂s that comes from later steps, and each step replaces it
        # by that of the previous state.
        for t in reversed(range(T)):
            rows = ctx.rows_T[t]
            added_RN = None if d_states_TBN is None else d_states_TBN[t + 1, :rows]
            d_row, d_c_RC = d_rows_TBX[t], d_c_TBC[t, :rows]
            # The gradient passes through the gated unit to its projections; through C to c, which also has a gradient from
            # the readout; through the attention to the query and the keys; and through U_z, U_r and W_a to s_{t−1}.
            step.backward(t, rows, d_s_BN, added_RN, None, states_TBN[t], d_row)
            to_context(d_row[:rows, : 3 * N], d_c_RC)
            if d_contexts_TBC is not None:
                d_c_RC += d_contexts_TBC[t, :rows]
            pointwise.attention_backward(
                *(keys_BSA[:rows], queries_TBA[t, :rows], v_a, h_BSC[:rows], lengths_B[:rows], alpha_TBS[t, :rows]),
                *(None if d_alpha_TBS is None else d_alpha_TBS[t, :rows], d_c_RC),
                *(d_row[:rows], d_keys_BSA[:rows], d_v_XA),
            )
            to_state(d_row[:rows, N:], d_s_BN[:rows])
            d_c_TBC[t, rows:] = 0
        if d_states_TBN is not None:
            d_s_BN += d_states_TBN[0]
        # The factor v_a, which all steps have in common; then the weights, as sums over all steps and sentences.
        d_keys_BSA *= v_a
        weight_gradient = _weight_gradient(ctx.precision)
        d_U = weight_gradient(d_rows_TBX[..., :N], step.resets(states_TBN[:-1]))
        # c_i = Σ_j α_ij h_j (Eq. 5), so that ∂cost/∂h_j = Σ_i α_ij ∂cost/∂c_i.
        d_h_BSC = torch.bmm(alpha_TBS.permute(1, 2, 0), d_c_TBC.transpose(0, 1))
        del d_c_TBC, d_c_RC  # memory use is highest here
        d_from_state = weight_gradient(d_rows_TBX[..., N:], states_TBN[:-1])
        d_C = weight_gradient(d_rows_TBX[..., : 3 * N], contexts_TBC)
        d_inputs_TBG = d_rows_TBX[..., : 3 * N]
        return (
            *(d_inputs_TBG, d_s_BN, d_h_BSC, d_keys_BSA, None),
            *(d_from_state[2 * N :], d_v_XA.sum(0), d_U, d_from_state[: 2 * N], d_C, None, None),
        )


ROWS_MULTIPLE = 16
"""Each step computes a multiple of this number of sentences, so that there are few different shapes with little padding."""


def _rows(mask_TB: Tensor | None, inputs_TBG: Tensor) -> list[int]:
    """Return the number of sentences, from the first, that each step must compute to include all that have not ended.

    The numbers are smallest if the longest sentences come first.
    """
    T, B, _ = inputs_TBG.shape
    if mask_TB is None:
        return [B] * T
    # The largest number b of a sentence (from 1) whose mask is True at each step.
    last_T = (mask_TB * torch.arange(1, B + 1, device=mask_TB.device)).amax(1).tolist()
    return [min(B, -(-last // ROWS_MULTIPLE) * ROWS_MULTIPLE) for last in last_T]


def _weight_gradient(precision: Precision) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a function that sums d_projection ⊗ operand over all steps and sentences, as one matrix product."""

    def gradient(d_projections: Tensor, operands: Tensor) -> Tensor:
        d_projections, operands = d_projections.flatten(0, 1), operands.flatten(0, 1)
        if precision == "bf16":
            return (d_projections.bfloat16().T @ operands.bfloat16()).float()
        return d_projections.T @ operands

    return gradient
