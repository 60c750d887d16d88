"""The recurrences with a backward pass derived by hand.

Autograd keeps every intermediate of every step, and at every step adds a whole matrix to each weight's gradient. Here the
loop back in time carries only what is recurrent, the gradient of the state; the gradients of the weights are one product
over all steps after it, and tanh(W_a s + U_a h) is computed again instead of kept. The results are those of `Reference`
to rounding. Derived for the gated unit; other cells run as in `Reference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from rnnsearch.engine.interface import Decoded
from rnnsearch.engine.reference import Reference

if TYPE_CHECKING:
    from rnnsearch.model.alignment import Source
    from rnnsearch.model.cells import Cell
    from rnnsearch.model.decoder import Decoder


class Fused:
    """See `Engine` for what the methods promise."""

    def __init__(self) -> None:
        self._reference = Reference()

    def encode(self, cell: Cell, inputs_SBG: Tensor, real_SB: Tensor, backward: bool = False) -> Tensor:
        if cell.gates != ("", "z", "r"):
            return self._reference.encode(cell, inputs_SBG, real_SB, backward)
        U, U_zr = cell.recurrent_weights()
        zero_BN = inputs_SBG.new_zeros(inputs_SBG.shape[1], cell.hidden_size)
        real_SB1 = real_SB.to(inputs_SBG.dtype).unsqueeze(-1)
        states: Tensor = _GatedRecurrence.apply(inputs_SBG, zero_BN, real_SB1, U, U_zr, backward)
        return states

    def decode(self, decoder: Decoder, inputs_TBG: Tensor, source: Source) -> Decoded:
        cell = decoder.cell
        if cell.gates != ("", "z", "r"):
            return self._reference.decode(decoder, inputs_TBG, source)
        U, U_zr = cell.recurrent_weights()
        s0_BN = decoder.first_state(source)
        if source.keys_BSA is None:
            # One fixed context: its part of the input is the same at every step.
            c_BC = source.summary_BN
            inputs_TBG = inputs_TBG + cell.project_context(c_BC)
            states_TBN = _GatedRecurrence.apply(inputs_TBG, s0_BN, None, U, U_zr, False)
            return Decoded(
                torch.cat([s0_BN.unsqueeze(0), states_TBN]), c_BC.expand(len(inputs_TBG), *c_BC.shape), None
            )
        alignment = decoder.alignment
        return Decoded(
            *_AlignedRecurrence.apply(
                inputs_TBG,
                s0_BN,
                source.annotations_BSC,
                source.keys_BSA,
                source.real_BS,
                alignment.W_a,
                alignment.v_a,
                U,
                U_zr,
                cell.stacked("C"),
            )
        )


class _GatedStep:
    """One step of the gated unit and its derivative; the names are those of `GatedCell`, `d_x` is ∂cost/∂x.

    `kept` holds, for every step, z, r, s~ and s: what the way back needs.
    """

    def __init__(self, T: int, like_BN: Tensor) -> None:
        B, N = like_BN.shape
        self.N = N
        self.zr_TBM = like_BN.new_empty(T, B, 2 * N)
        self.candidate_TBN = like_BN.new_empty(T, B, N)
        self.reset_TBN = like_BN.new_empty(T, B, N)
        """r ∘ s."""

    def forward(self, t: int, s_BN: Tensor, inputs_BG: Tensor, from_state_BM: Tensor, U: Tensor, out_BN: Tensor) -> None:
        """s' into `out_BN`, from s, the summed projections, and [U_z; U_r] s."""
        N = self.N
        zr_BM = torch.add(inputs_BG[:, N:], from_state_BM, out=self.zr_TBM[t]).sigmoid_()
        reset_BN = torch.mul(zr_BM[:, N:], s_BN, out=self.reset_TBN[t])
        candidate_BN = torch.addmm(inputs_BG[:, :N], reset_BN, U.T, out=self.candidate_TBN[t]).tanh_()
        torch.lerp(s_BN, candidate_BN, zr_BM[:, :N], out=out_BN)

    def backward(self, t: int, d_s_BN: Tensor, s_BN: Tensor, U: Tensor, d_inputs_BG: Tensor) -> Tensor:
        """The gradient of the projections into `d_inputs_BG`; returned, that of s but for what comes through U_z, U_r."""
        N = self.N
        z_BN, r_BN = self.zr_TBM[t, :, :N], self.zr_TBM[t, :, N:]
        candidate_BN = self.candidate_TBN[t]
        d_candidate_BN, d_z_BN, d_r_BN = d_inputs_BG.split(N, 1)
        torch.mul(d_s_BN, z_BN, out=d_candidate_BN)
        d_candidate_BN.addcmul_(d_candidate_BN * candidate_BN, candidate_BN, value=-1)
        d_reset_BN = d_candidate_BN @ U
        torch.mul(d_s_BN * (candidate_BN - s_BN), z_BN - z_BN * z_BN, out=d_z_BN)
        torch.mul(d_reset_BN * s_BN, r_BN - r_BN * r_BN, out=d_r_BN)
        return torch.addcmul(d_s_BN - d_s_BN * z_BN, d_reset_BN, r_BN)

    def weight_gradients(self, d_inputs_TBG: Tensor, before_TBN: Tensor) -> tuple[Tensor, Tensor]:
        """Those of U and [U_z; U_r]: one product each over all steps."""
        N = self.N
        d_flat = d_inputs_TBG.flatten(0, 1)
        d_U = d_flat[:, :N].T @ self.reset_TBN.flatten(0, 1)
        return d_U, d_flat[:, N:].T @ before_TBN.flatten(0, 1)


class _GatedRecurrence(torch.autograd.Function):
    """s_t = f(s_{t−1}, inputs_t), from s0, first to last or last to first; outside a sentence the state is zero."""

    @staticmethod
    def forward(
        ctx: Any, inputs_TBG: Tensor, s0_BN: Tensor, real_TB1: Tensor | None, U: Tensor, U_zr: Tensor, reverse: bool
    ) -> Tensor:
        T = len(inputs_TBG)
        step = _GatedStep(T, s0_BN)
        states_TBN = s0_BN.new_empty(T, *s0_BN.shape)
        s_BN = s0_BN
        for t in reversed(range(T)) if reverse else range(T):
            step.forward(t, s_BN, inputs_TBG[t], linear(s_BN, U_zr), U, states_TBN[t])
            s_BN = states_TBN[t]
            if real_TB1 is not None:
                s_BN.mul_(real_TB1[t])
        ctx.save_for_backward(s0_BN, real_TB1, U, U_zr, states_TBN)
        ctx.step, ctx.reverse = step, reverse
        return states_TBN

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (d_states_TBN,) = gradients
        s0_BN, real_TB1, U, U_zr, states_TBN = ctx.saved_tensors
        step: _GatedStep = ctx.step
        T, N = len(states_TBN), step.N
        if ctx.reverse:
            before_TBN = torch.cat([states_TBN[1:], s0_BN.unsqueeze(0)])
        else:
            before_TBN = torch.cat([s0_BN.unsqueeze(0), states_TBN[:-1]])
        d_inputs_TBG = s0_BN.new_empty(T, len(s0_BN), 3 * N)
        d_s_BN = torch.zeros_like(s0_BN)
        for t in range(T) if ctx.reverse else reversed(range(T)):
            d_s_BN = d_s_BN + d_states_TBN[t]
            if real_TB1 is not None:
                d_s_BN.mul_(real_TB1[t])
            d_s_BN = step.backward(t, d_s_BN, before_TBN[t], U, d_inputs_TBG[t]).addmm_(d_inputs_TBG[t, :, N:], U_zr)
        d_U, d_U_zr = step.weight_gradients(d_inputs_TBG, before_TBN)
        return d_inputs_TBG, d_s_BN, None, d_U, d_U_zr, None


class _AlignedRecurrence(torch.autograd.Function):
    """The decoder's loop: α_t and c_t from s_{t−1}, then s_t = f(s_{t−1}, inputs_t + C c_t)."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs_TBG: Tensor,
        s0_BN: Tensor,
        h_BSC: Tensor,
        keys_BSA: Tensor,
        real_BS: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        U_zr: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        T = len(inputs_TBG)
        (B, S, A), N = keys_BSA.shape, s0_BN.shape[1]
        step = _GatedStep(T, s0_BN)
        states_TBN = s0_BN.new_empty(T + 1, B, N)
        contexts_TBC = h_BSC.new_empty(T, B, h_BSC.shape[2])
        alpha_TBS = h_BSC.new_empty(T, B, S)
        queries_TBA = s0_BN.new_empty(T, B, A)
        states_TBN[0] = s0_BN
        from_state = torch.cat([W_a, U_zr])
        hidden_BSA = torch.empty_like(keys_BSA)
        outside_BS = ~real_BS
        for t in range(T):
            s_BN = states_TBN[t]
            projected = linear(s_BN, from_state)
            queries_TBA[t] = projected[:, :A]
            torch.add(keys_BSA, queries_TBA[t].unsqueeze(1), out=hidden_BSA).tanh_()
            energy_BS = (hidden_BSA.flatten(0, 1) @ v_a).view(B, S).masked_fill_(outside_BS, -torch.inf)
            torch.softmax(energy_BS, 1, out=alpha_TBS[t])
            torch.bmm(alpha_TBS[t].unsqueeze(1), h_BSC, out=contexts_TBC[t].unsqueeze(1))
            inputs_BG = torch.addmm(inputs_TBG[t], contexts_TBC[t], C.T)
            step.forward(t, s_BN, inputs_BG, projected[:, A:], U, states_TBN[t + 1])
        ctx.save_for_backward(
            h_BSC, keys_BSA, W_a, v_a, U, U_zr, C, states_TBN, contexts_TBC, alpha_TBS, queries_TBA
        )
        ctx.step = step
        ctx.set_materialize_grads(False)
        return states_TBN, contexts_TBC, alpha_TBS

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        d_states_TBN, d_contexts_TBC, d_alpha_TBS = gradients
        h_BSC, keys_BSA, W_a, v_a, U, U_zr, C, states_TBN, contexts_TBC, alpha_TBS, queries_TBA = ctx.saved_tensors
        step: _GatedStep = ctx.step
        (T, B, _), N, A = alpha_TBS.shape, step.N, len(v_a)
        from_state = torch.cat([W_a, U_zr])
        d_inputs_TBG = h_BSC.new_empty(T, B, 3 * N)
        # ∂cost/∂[W_a s ; U_z s ; U_r s]: side by side, for one product back to the state and one for the weights.
        d_projected_TBX = h_BSC.new_empty(T, B, A + 2 * N)
        d_c_TBC = torch.empty_like(contexts_TBC)
        d_v_A = torch.zeros_like(v_a)
        d_keys_BSA = torch.zeros_like(keys_BSA)
        hidden_BSA = torch.empty_like(keys_BSA)
        d_s_BN = torch.zeros_like(states_TBN[0])
        for t in reversed(range(T)):
            if d_states_TBN is not None:
                d_s_BN = d_s_BN + d_states_TBN[t + 1]
            s_BN = states_TBN[t]
            d_s_BN = step.backward(t, d_s_BN, s_BN, U, d_inputs_TBG[t])
            torch.mm(d_inputs_TBG[t], C, out=d_c_TBC[t])
            if d_contexts_TBC is not None:
                d_c_TBC[t] += d_contexts_TBC[t]
            d_alpha_BS = torch.bmm(h_BSC, d_c_TBC[t].unsqueeze(2)).squeeze(2)
            if d_alpha_TBS is not None:
                d_alpha_BS += d_alpha_TBS[t]
            alpha_BS = alpha_TBS[t]
            d_energy_BS = alpha_BS * (d_alpha_BS - (alpha_BS * d_alpha_BS).sum(1, keepdim=True))
            torch.add(keys_BSA, queries_TBA[t].unsqueeze(1), out=hidden_BSA).tanh_()
            d_v_A.addmv_(hidden_BSA.flatten(0, 1).T, d_energy_BS.flatten())
            # Through tanh: d_energy (1 − hidden²), times v_a, which does not depend on t and so comes last.
            hidden_BSA.square_().neg_().add_(1).mul_(d_energy_BS.unsqueeze(2))
            d_keys_BSA += hidden_BSA
            torch.mul(hidden_BSA.sum(1), v_a, out=d_projected_TBX[t, :, :A])
            d_projected_TBX[t, :, A:] = d_inputs_TBG[t, :, N:]
            d_s_BN.addmm_(d_projected_TBX[t], from_state)
        if d_states_TBN is not None:
            d_s_BN = d_s_BN + d_states_TBN[0]
        d_keys_BSA *= v_a
        d_h_BSC = torch.bmm(alpha_TBS.permute(1, 2, 0), d_c_TBC.transpose(0, 1))
        before_TBN = states_TBN[:-1]
        d_U, d_U_zr = step.weight_gradients(d_inputs_TBG, before_TBN)
        d_W_a = d_projected_TBX[:, :, :A].flatten(0, 1).T @ before_TBN.flatten(0, 1)
        d_C = d_inputs_TBG.flatten(0, 1).T @ contexts_TBC.flatten(0, 1)
        return d_inputs_TBG, d_s_BN, d_h_BSC, d_keys_BSA, None, d_W_a, d_v_A, d_U, d_U_zr, d_C
