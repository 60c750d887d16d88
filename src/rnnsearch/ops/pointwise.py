"""The pointwise operations of a recurrence step: gates (appendix A.1.1) and additive attention (appendix A.1.2).

There is a function for the forward pass and one for the backward pass of each. float32 tensors on a CPU are computed in
compiled loops (`pointwise_compiled`), all others by PyTorch's operations.

The letters of tensor names are those of `rnnsearch.model`. `zr` (B, 2N) is [z ; r], and `reset` (B, N) is r ∘ s. `projected`
holds the projections of the state, `[U_z; U_r] s` and, if there is an alignment model, `W_a s`. `d_x` is ∂cost/∂x; `d_row`
(B, X) holds the gradients of a step's projections: candidate, z, r (3N) and, if there is an alignment model, the query (A).
An optional tensor that is absent is None. Results are written to the last arguments.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rnnsearch.ops import loops
from rnnsearch.ops import pointwise_compiled as compiled


def gates_forward(
    inputs_BG: Tensor,
    context_BG: Tensor | None,
    projected_BM: Tensor,
    s_BN: Tensor,
    zr: Tensor,
    reset: Tensor,
) -> None:
    """Compute z, r = σ(inputs + context + [U_z; U_r] s) in `zr` (B, 2N), and r ∘ s in `reset` (B, N)."""
    if loops.run_on(s_BN):
        context = inputs_BG if context_BG is None else context_BG
        scalars = (*s_BN.shape, projected_BM.shape[1], context_BG is not None)
        compiled.gates_forward(scalars, inputs_BG, context, projected_BM, s_BN, zr, reset)
        return
    N = s_BN.shape[1]
    # [z ; r] = σ(W x + C c + U s) of both gates at once, then r ∘ s.
    torch.add(inputs_BG[:, N:], projected_BM[:, : 2 * N], out=zr)
    if context_BG is not None:
        zr.add_(context_BG[:, N:])
    torch.mul(zr.sigmoid_()[:, N:], s_BN, out=reset)


def candidate_forward(
    inputs_BG: Tensor,
    context_BG: Tensor | None,
    zr: Tensor,
    s_BN: Tensor,
    mask_B: Tensor | None,
    candidate_BN: Tensor,
    next_s_BN: Tensor,
) -> None:
    """Compute s' = (1 − z) ∘ s + z ∘ s~ in `next_s`, which is zero where `mask` is zero.

    `candidate` holds U [r ∘ s] on entry and s~ on return.
    """
    if loops.run_on(s_BN):
        context, mask = inputs_BG if context_BG is None else context_BG, s_BN if mask_B is None else mask_B
        scalars = (*s_BN.shape, context_BG is not None, mask_B is not None)
        compiled.candidate_forward(scalars, inputs_BG, context, zr, s_BN, mask, candidate_BN, next_s_BN)
        return
    N = s_BN.shape[1]
    # s~ = tanh(W x + C c + b + U [r ∘ s]); linear interpolation from s to s~ by z is the next state.
    candidate_BN.add_(inputs_BG[:, :N])
    if context_BG is not None:
        candidate_BN.add_(context_BG[:, :N])
    torch.lerp(s_BN, candidate_BN.tanh_(), zr[:, :N], out=next_s_BN)
    if mask_B is not None:
        next_s_BN.mul_(mask_B.unsqueeze(1))


def candidate_backward(
    d_s_BN: Tensor,
    added_BN: Tensor | None,
    mask_B: Tensor | None,
    zr: Tensor,
    candidate_BN: Tensor,
    s_BN: Tensor,
    d_row: Tensor,
) -> None:
    """Compute the gradients of the projections of s~ and z, in `d_row`, from ∂cost/∂s' = `d_s` + `added`.

    On return, `d_s` holds the part of ∂cost/∂s that comes from (1 − z) ∘ s.
    """
    if loops.run_on(s_BN):
        added, mask = s_BN if added_BN is None else added_BN, s_BN if mask_B is None else mask_B
        scalars = (*s_BN.shape, d_row.shape[1], added_BN is not None, mask_B is not None)
        compiled.candidate_backward(scalars, d_s_BN, added, mask, zr, candidate_BN, s_BN, d_row)
        return
    N = s_BN.shape[1]
    # ∂cost/∂s', from the next step and from outside; it is zero outside a sentence.
    if added_BN is not None:
        d_s_BN.add_(added_BN)
    if mask_B is not None:
        d_s_BN.mul_(mask_B.unsqueeze(1))
    # Through s~: d_s ∘ z ∘ (1 − s~²); through z: d_s ∘ (s~ − s) ∘ (z − z²); the rest, d_s ∘ (1 − z), stays in `d_s`.
    z_BN, d_candidate_BN = zr[:, :N], d_row[:, :N]
    torch.mul(d_s_BN, z_BN, out=d_candidate_BN)
    d_candidate_BN.addcmul_(d_candidate_BN * candidate_BN, candidate_BN, value=-1)
    torch.mul(d_s_BN * (candidate_BN - s_BN), z_BN - z_BN * z_BN, out=d_row[:, N : 2 * N])
    d_s_BN.sub_(d_s_BN * z_BN)


def reset_backward(
    d_reset_BN: Tensor,
    zr: Tensor,
    s_BN: Tensor,
    d_row: Tensor,
    d_s_BN: Tensor,
) -> None:
    """Compute the gradient of the projection of r, in `d_row`, from ∂cost/∂(r ∘ s), and add that of s to `d_s`."""
    if loops.run_on(s_BN):
        compiled.reset_backward((*s_BN.shape, d_row.shape[1]), d_reset_BN, zr, s_BN, d_row, d_s_BN)
        return
    N = s_BN.shape[1]
    # σ' = r − r²; the gradient of s is r ∘ ∂cost/∂(r ∘ s).
    r_BN = zr[:, N:]
    torch.mul(d_reset_BN * s_BN, r_BN - r_BN * r_BN, out=d_row[:, 2 * N : 3 * N])
    d_s_BN.addcmul_(d_reset_BN, r_BN)


def attention_forward(
    keys_BSA: Tensor,
    projected_BM: Tensor,
    v_a: Tensor,
    h_BSC: Tensor,
    lengths_B: Tensor,
    queries_BA: Tensor,
    alpha_BS: Tensor,
    contexts_BC: Tensor,
) -> None:
    """Compute α (Eq. 6) and c (Eq. 5) of every sentence, from the keys U_a h_j and the query W_a s.

    The query, which is the last A columns of `projected`, is copied to `queries`.
    """
    if loops.run_on(keys_BSA):
        scalars = (*keys_BSA.shape, h_BSC.shape[2], projected_BM.shape[1])
        compiled.attention_forward(scalars, keys_BSA, projected_BM, v_a, h_BSC, lengths_B, queries_BA, alpha_BS, contexts_BC)
        return
    B, S, A = keys_BSA.shape
    queries_BA.copy_(projected_BM[:, -A:])
    # e_j = v_aᵀ tanh(U_a h_j + W_a s), −∞ past the sentence's end; α = softmax(e); c = Σ_j α_j h_j.
    hidden_BSA = (keys_BSA + queries_BA.unsqueeze(1)).tanh_()
    energy_BS = (hidden_BSA.flatten(0, 1) @ v_a).view(B, S).masked_fill_(~_mask(lengths_B, S), -torch.inf)
    torch.softmax(energy_BS, 1, out=alpha_BS)
    torch.bmm(alpha_BS.unsqueeze(1), h_BSC, out=contexts_BC.unsqueeze(1))


def attention_backward(
    keys_BSA: Tensor,
    queries_BA: Tensor,
    v_a: Tensor,
    h_BSC: Tensor,
    lengths_B: Tensor,
    alpha_BS: Tensor,
    d_alpha_BS: Tensor | None,
    d_contexts_BC: Tensor,
    d_row: Tensor,
    d_keys_BSA: Tensor,
    d_v_XA: Tensor,
) -> None:
    """Compute the gradient of the query, in `d_row`, from ∂cost/∂c and ∂cost/∂α, and add to `d_keys` and the rows of `d_v`.

    The factor v_a of `d_keys` does not depend on the step, so it is omitted here; the caller multiplies by it after the
    last step.
    """
    if loops.run_on(keys_BSA):
        d_alpha = alpha_BS if d_alpha_BS is None else d_alpha_BS
        scratch_BS = torch.empty_like(alpha_BS)
        compiled.attention_backward(
            (*keys_BSA.shape, h_BSC.shape[2], d_row.shape[1], d_alpha_BS is not None),
            *(keys_BSA, queries_BA, v_a, h_BSC, lengths_B, alpha_BS, d_alpha, d_contexts_BC),
            *(d_row, d_keys_BSA, d_v_XA, scratch_BS),
        )
        return
    # ∂cost/∂α_j = h_j · ∂cost/∂c, plus the gradient of α from outside.
    d_weights_BS = torch.bmm(h_BSC, d_contexts_BC.unsqueeze(2)).squeeze(2)
    if d_alpha_BS is not None:
        d_weights_BS += d_alpha_BS
    # The derivative of the softmax, ∂cost/∂e_j = α_j (∂cost/∂α_j − Σ_k α_k ∂cost/∂α_k). The tanh is recomputed to save
    # memory.
    d_energy_BS = alpha_BS * (d_weights_BS - (alpha_BS * d_weights_BS).sum(1, keepdim=True))
    hidden_BSA = (keys_BSA + queries_BA.unsqueeze(1)).tanh_()
    # ∂cost/∂v_a = Σ_bj ∂cost/∂e_bj tanh(…); for key and query, the factor ∂cost/∂e (1 − tanh²) is the same.
    d_v_XA[0].addmv_(hidden_BSA.flatten(0, 1).T, d_energy_BS.flatten())
    slope_BSA = hidden_BSA.square_().neg_().add_(1).mul_(d_energy_BS.unsqueeze(2))
    d_keys_BSA += slope_BSA
    torch.mul(slope_BSA.sum(1), v_a, out=d_row[:, -len(v_a) :])


def _mask(lengths_B: Tensor, S: int) -> Tensor:
    """Return a mask (B, S) that is True at the positions that belong to a sentence."""
    return torch.arange(S, device=lengths_B.device) < lengths_B.unsqueeze(1)
