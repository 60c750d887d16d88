# mypy: allow-untyped-decorators, allow-untyped-defs, allow-incomplete-defs
"""The pointwise part of a recurrence step, and additive attention, as Triton kernels.

The kernels fuse operations whose results would otherwise be written to memory and read again: the gates, and above all
tanh(W_a s + U_a h), which has (B, S, A) elements at every step and exists in registers only, in both passes. cuBLAS
computes the matrix products. Every kernel has a function that launches it on tensors. The letters of tensor names are those
of `rnnsearch.model`: M = 2N + A for the projections of a state, [z ; r ; W_a s], or 2N without attention; X = 3N + A, or 3N,
for their gradients, [candidate ; z ; r ; W_a s].

Kernels compute in the type of their tensors. Tensors are contiguous, except for slices of columns.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _tanh(x):
    """Compute tanh from the sigmoid function, which Triton provides on every device.

    Near 0, the difference 2 σ(2x) − 1 has lost the last digits of a float32: x = 0.001 has a relative error of 1e-4. States
    are that small at the beginning of a training, so a float32 below 0.3 is computed by the Taylor series instead.
    """
    tanh = 2 * tl.sigmoid(2 * x) - 1
    if x.dtype == tl.float32:
        xx = x * x
        series = x * (1 + xx * (-1 / 3 + xx * (2 / 15 + xx * (-17 / 315 + xx * (62 / 2835)))))
        tanh = tl.where(xx < 0.09, series, tanh)
    return tanh


@triton.jit
def _gates(projected_BM, M, inputs_BG, s_BN, reset_BN, N, BLOCK: tl.constexpr):
    # A program computes BLOCK units n of one sentence b; offsets are int64, for tensors of more than 2³¹ elements.
    b = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = n < N
    # z = σ(inputs_z + U_z s) and r = σ(inputs_r + U_r s) overwrite their projections.
    z_at, r_at = projected_BM + b * M + n, projected_BM + b * M + N + n
    z_input = tl.load(inputs_BG + b * 3 * N + N + n, inside, 0)
    r_input = tl.load(inputs_BG + b * 3 * N + 2 * N + n, inside, 0)
    z = tl.sigmoid(z_input + tl.load(z_at, inside, 0))
    r = tl.sigmoid(r_input + tl.load(r_at, inside, 0))
    # r ∘ s is the operand of the product with U.
    tl.store(z_at, z, inside)
    tl.store(r_at, r, inside)
    tl.store(reset_BN + b * N + n, r * tl.load(s_BN + b * N + n, inside, 0), inside)


def gates(projected_BM: Tensor, inputs_BG: Tensor, s_BN: Tensor, reset_BN: Tensor) -> None:
    """Compute z = σ(inputs_z + U_z s), r = σ(inputs_r + U_r s), and r ∘ s in `reset_BN`.

    The first 2N columns of `projected_BM` hold [U_z s ; U_r s] on entry and [z ; r] on return.
    """
    B, N = s_BN.shape
    _gates[_rows(B, N)](projected_BM, projected_BM.stride(0), inputs_BG, s_BN, reset_BN, N, BLOCK=BLOCK_N)


@triton.jit
def _update(projected_BM, M, inputs_BG, s_BN, mask_B, candidate_BN, after_BN, N, BLOCK: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = n < N
    # s~ = tanh(inputs + U [r ∘ s]) overwrites U [r ∘ s].
    candidate_at = candidate_BN + b * N + n
    candidate = _tanh(tl.load(inputs_BG + b * 3 * N + n, inside, 0) + tl.load(candidate_at, inside, 0))
    s = tl.load(s_BN + b * N + n, inside, 0)
    z = tl.load(projected_BM + b * M + n, inside, 0)
    # s' = s + z ∘ (s~ − s) equals (1 − z) ∘ s + z ∘ s~; the mask sets it to zero outside a sentence.
    tl.store(candidate_at, candidate, inside)
    tl.store(after_BN + b * N + n, tl.load(mask_B + b) * (s + z * (candidate - s)), inside)


def update(
    projected_BM: Tensor, inputs_BG: Tensor, s_BN: Tensor, mask_B: Tensor, candidate_BN: Tensor, after_BN: Tensor
) -> None:
    """Compute s~ = tanh(inputs + U [r ∘ s]), and s' = (1 − z) ∘ s + z ∘ s~ in `after_BN`, zero outside a sentence.

    `candidate_BN` holds U [r ∘ s] on entry and s~ on return; the first N columns of `projected_BM` are z.
    """
    B, N = s_BN.shape
    _update[_rows(B, N)](
        projected_BM, projected_BM.stride(0), inputs_BG, s_BN, mask_B, candidate_BN, after_BN, N, BLOCK=BLOCK_N
    )


@triton.jit
def _update_backward(
    direct_BN, through_BN, d_state_BN, mask_B, projected_BM, M, candidate_BN, s_BN, d_step_BX, X, N, BLOCK: tl.constexpr
):
    b = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, at = n < N, b * N + n
    # ∂cost/∂s': the direct part from the next step, the part through its projections, and the part from outside.
    d_s = tl.load(direct_BN + at, inside, 0) + tl.load(through_BN + at, inside, 0) + tl.load(d_state_BN + at, inside, 0)
    d_s *= tl.load(mask_B + b)
    z = tl.load(projected_BM + b * M + n, inside, 0)
    candidate = tl.load(candidate_BN + at, inside, 0)
    s = tl.load(s_BN + at, inside, 0)
    # The derivatives of s' = s + z ∘ (s~ − s), with tanh' = 1 − s~² and σ' = z (1 − z).
    tl.store(d_step_BX + b * X + n, d_s * z * (1 - candidate * candidate), inside)
    tl.store(d_step_BX + b * X + N + n, d_s * (candidate - s) * z * (1 - z), inside)
    tl.store(direct_BN + at, d_s * (1 - z), inside)


def update_backward(
    direct_BN: Tensor,
    through_BN: Tensor,
    d_state_BN: Tensor,
    mask_B: Tensor,
    projected_BM: Tensor,
    candidate_BN: Tensor,
    s_BN: Tensor,
    d_step_BX: Tensor,
) -> None:
    """Compute the gradients of candidate and z, in columns 0 … 2N of `d_step_BX`, from ∂cost/∂s'.

    ∂cost/∂s' is the sum of the first three arguments. On return, `direct_BN` holds the part of ∂cost/∂s that comes from
    (1 − z) ∘ s.
    """
    B, N = s_BN.shape
    _update_backward[_rows(B, N)](
        direct_BN,
        through_BN,
        d_state_BN,
        mask_B,
        projected_BM,
        projected_BM.stride(0),
        candidate_BN,
        s_BN,
        d_step_BX,
        d_step_BX.stride(0),
        N,
        BLOCK=BLOCK_N,
    )


@triton.jit
def _gates_backward(d_reset_BN, projected_BM, M, s_BN, d_step_BX, X, direct_BN, N, BLOCK: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, at = n < N, b * N + n
    # ∂(r ∘ s)/∂r = s and ∂(r ∘ s)/∂s = r, with σ' = r (1 − r).
    d_reset = tl.load(d_reset_BN + at, inside, 0)
    r = tl.load(projected_BM + b * M + N + n, inside, 0)
    s = tl.load(s_BN + at, inside, 0)
    tl.store(d_step_BX + b * X + 2 * N + n, d_reset * s * r * (1 - r), inside)
    tl.store(direct_BN + at, tl.load(direct_BN + at, inside, 0) + d_reset * r, inside)


def gates_backward(d_reset_BN: Tensor, projected_BM: Tensor, s_BN: Tensor, d_step_BX: Tensor, direct_BN: Tensor) -> None:
    """Compute the gradient of r, in columns 2N … 3N of `d_step_BX`, from ∂cost/∂[r ∘ s]; add that of s to `direct_BN`."""
    B, N = s_BN.shape
    _gates_backward[_rows(B, N)](
        d_reset_BN,
        projected_BM,
        projected_BM.stride(0),
        s_BN,
        d_step_BX,
        d_step_BX.stride(0),
        direct_BN,
        N,
        BLOCK=BLOCK_N,
    )


@triton.jit
def _energies(query_BA, M, keys_BSA, v_A, mask_BS, energy_BS, S, A, BLOCK_S: tl.constexpr, BLOCK_A: tl.constexpr):
    # A program computes the energies of BLOCK_S source positions of one sentence b.
    b = tl.program_id(0).to(tl.int64)
    s = tl.program_id(1) * BLOCK_S + tl.arange(0, BLOCK_S)
    inside_S = s < S
    # The terms of e_j = Σ_a v_a tanh(query_a + key_ja), summed over blocks of a; the sum within a block comes last.
    sum_SA = tl.zeros([BLOCK_S, BLOCK_A], energy_BS.dtype.element_ty)
    for start in range(0, A, BLOCK_A):
        a = start + tl.arange(0, BLOCK_A)
        inside_A = a < A
        query_A = tl.load(query_BA + b * M + a, inside_A, 0)
        v = tl.load(v_A + a, inside_A, 0)
        key_SA = tl.load(keys_BSA + (b * S + s[:, None]) * A + a[None, :], inside_S[:, None] & inside_A[None, :], 0)
        sum_SA += v[None, :] * _tanh(query_A[None, :] + key_SA)
    # −∞ outside a sentence gives the weight zero after the softmax.
    mask_S = tl.load(mask_BS + b * S + s, inside_S, 0)
    tl.store(energy_BS + b * S + s, tl.where(mask_S > 0, tl.sum(sum_SA, 1), float("-inf")), inside_S)


def energies(query_BA: Tensor, keys_BSA: Tensor, v_A: Tensor, mask_BS: Tensor, energy_BS: Tensor) -> None:
    """Compute e_j = v_aᵀ tanh(query + key_j) in `energy_BS`; −∞ outside a sentence."""
    B, S, A = keys_BSA.shape
    _energies[B, triton.cdiv(S, BLOCK_S)](
        query_BA, query_BA.stride(0), keys_BSA, v_A, mask_BS, energy_BS, S, A, BLOCK_S=BLOCK_S, BLOCK_A=BLOCK_A
    )


@triton.jit
def _attend(
    energy_BS,
    values_BSG,
    inputs_BG,
    alpha_BS,
    attended_BG,
    S,
    G,
    ROW: tl.constexpr,
    BLOCK_S: tl.constexpr,
    BLOCK_G: tl.constexpr,
):
    # A program computes BLOCK_G gates of one sentence b.
    b = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, ROW)
    # Every program reads the whole row of energies, for the maximum and the total of the softmax.
    energy_S = tl.load(energy_BS + b * S + row, row < S, float("-inf"))
    highest = tl.max(energy_S, 0)
    total = tl.sum(tl.exp(energy_S - highest), 0)
    g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)
    inside_G = g < G
    # Σ_j α_j value_j for a block of gates g; the first program of a sentence also stores α.
    sum_SG = tl.zeros([BLOCK_S, BLOCK_G], attended_BG.dtype.element_ty)
    for start in range(0, S, BLOCK_S):
        s = start + tl.arange(0, BLOCK_S)
        inside_S = s < S
        alpha_S = tl.exp(tl.load(energy_BS + b * S + s, inside_S, float("-inf")) - highest) / total
        if tl.program_id(1) == 0:
            tl.store(alpha_BS + b * S + s, alpha_S, inside_S)
        value_SG = tl.load(values_BSG + (b * S + s[:, None]) * G + g[None, :], inside_S[:, None] & inside_G[None, :], 0)
        sum_SG += alpha_S[:, None] * value_SG
    # inputs + C c_i.
    inputs_G = tl.load(inputs_BG + b * G + g, inside_G, 0)
    tl.store(attended_BG + b * G + g, inputs_G + tl.sum(sum_SG, 0), inside_G)


def attend(energy_BS: Tensor, values_BSG: Tensor, inputs_BG: Tensor, alpha_BS: Tensor, attended_BG: Tensor) -> None:
    """Compute α = softmax(e) in `alpha_BS`, and inputs + Σ_j α_j value_j in `attended_BG`."""
    B, S, G = values_BSG.shape
    _attend[B, triton.cdiv(G, BLOCK_A)](
        energy_BS,
        values_BSG,
        inputs_BG,
        alpha_BS,
        attended_BG,
        S,
        G,
        ROW=triton.next_power_of_2(S),
        BLOCK_S=BLOCK_S,
        BLOCK_G=BLOCK_A,
    )


@triton.jit
def _alpha_backward(d_attended_BG, X, values_BSG, d_alpha_BS, out_BS, S, G, BLOCK_S: tl.constexpr, BLOCK_G: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    s = tl.program_id(1) * BLOCK_S + tl.arange(0, BLOCK_S)
    inside_S = s < S
    # ∂cost/∂α_j = value_j · ∂cost/∂inputs, summed over blocks of gates, plus the gradient of α from outside.
    sum_SG = tl.zeros([BLOCK_S, BLOCK_G], out_BS.dtype.element_ty)
    for start in range(0, G, BLOCK_G):
        g = start + tl.arange(0, BLOCK_G)
        inside_G = g < G
        d_attended_G = tl.load(d_attended_BG + b * X + g, inside_G, 0)
        value_SG = tl.load(values_BSG + (b * S + s[:, None]) * G + g[None, :], inside_S[:, None] & inside_G[None, :], 0)
        sum_SG += d_attended_G[None, :] * value_SG
    tl.store(out_BS + b * S + s, tl.load(d_alpha_BS + b * S + s, inside_S, 0) + tl.sum(sum_SG, 1), inside_S)


def alpha_backward(d_step_BX: Tensor, values_BSG: Tensor, d_alpha_BS: Tensor, out_BS: Tensor) -> None:
    """Compute ∂cost/∂α_j in `out_BS`: `d_alpha_BS` plus value_j · ∂cost/∂inputs, the first G columns of `d_step_BX`."""
    B, S, G = values_BSG.shape
    _alpha_backward[B, triton.cdiv(S, BLOCK_S)](
        d_step_BX, d_step_BX.stride(0), values_BSG, d_alpha_BS, out_BS, S, G, BLOCK_S=BLOCK_S, BLOCK_G=BLOCK_A
    )


@triton.jit
def _query_backward(
    alpha_BS,
    d_alpha_BS,
    query_BA,
    M,
    keys_BSA,
    v_A,
    d_energy_BS,
    d_query_BA,
    X,
    S,
    A,
    ROW: tl.constexpr,
    BLOCK_S: tl.constexpr,
    BLOCK_A: tl.constexpr,
):
    # A program computes BLOCK_A units of the query of one sentence b.
    b = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, ROW)
    inside_row, row_at = row < S, b * S + row
    # Σ_k α_k ∂cost/∂α_k, from the derivative of the softmax.
    mean = tl.sum(tl.load(alpha_BS + row_at, inside_row, 0) * tl.load(d_alpha_BS + row_at, inside_row, 0), 0)
    a = tl.program_id(1) * BLOCK_A + tl.arange(0, BLOCK_A)
    inside_A = a < A
    query_A = tl.load(query_BA + b * M + a, inside_A, 0)
    # Σ_j ∂cost/∂e_j (1 − tanh²) for a block of a, with a recomputed tanh; the first program of a sentence also stores
    # ∂cost/∂e_j = α_j (∂cost/∂α_j − mean).
    sum_SA = tl.zeros([BLOCK_S, BLOCK_A], d_query_BA.dtype.element_ty)
    for start in range(0, S, BLOCK_S):
        s = start + tl.arange(0, BLOCK_S)
        inside_S, at = s < S, b * S + s
        d_energy_S = tl.load(alpha_BS + at, inside_S, 0) * (tl.load(d_alpha_BS + at, inside_S, 0) - mean)
        if tl.program_id(1) == 0:
            tl.store(d_energy_BS + at, d_energy_S, inside_S)
        key_SA = tl.load(keys_BSA + at[:, None] * A + a[None, :], inside_S[:, None] & inside_A[None, :], 0)
        hidden_SA = _tanh(query_A[None, :] + key_SA)
        sum_SA += d_energy_S[:, None] * (1 - hidden_SA * hidden_SA)
    tl.store(d_query_BA + b * X + a, tl.load(v_A + a, inside_A, 0) * tl.sum(sum_SA, 0), inside_A)


def query_backward(
    alpha_BS: Tensor,
    d_alpha_BS: Tensor,
    query_BA: Tensor,
    keys_BSA: Tensor,
    v_A: Tensor,
    d_energy_BS: Tensor,
    d_query_BA: Tensor,
) -> None:
    """Compute ∂cost/∂e_j = α_j (∂cost/∂α_j − Σ_k α_k ∂cost/∂α_k) in `d_energy_BS`, and ∂cost/∂query in `d_query_BA`.

    ∂cost/∂query = v_a ∘ Σ_j ∂cost/∂e_j (1 − tanh²(query + key_j)), where the tanh is recomputed.
    """
    B, S, A = keys_BSA.shape
    _query_backward[B, triton.cdiv(A, BLOCK_A)](
        alpha_BS,
        d_alpha_BS,
        query_BA,
        query_BA.stride(0),
        keys_BSA,
        v_A,
        d_energy_BS,
        d_query_BA,
        d_query_BA.stride(0),
        S,
        A,
        ROW=triton.next_power_of_2(S),
        BLOCK_S=BLOCK_S,
        BLOCK_A=BLOCK_A,
    )


@triton.jit
def _keys_backward(
    d_energy_TBS,
    query_TBA,
    M,
    keys_BSA,
    v_A,
    d_keys_BSA,
    d_v_BXA,
    T,
    B,
    S,
    A,
    BLOCK_S: tl.constexpr,
    BLOCK_A: tl.constexpr,
):
    # A program computes a block of keys, BLOCK_S positions × BLOCK_A units, of one sentence b.
    b = tl.program_id(0).to(tl.int64)
    s = tl.program_id(1) * BLOCK_S + tl.arange(0, BLOCK_S)
    a = tl.program_id(2) * BLOCK_A + tl.arange(0, BLOCK_A)
    inside_S, inside_A = s < S, a < A
    inside_SA, at_SA = inside_S[:, None] & inside_A[None, :], (b * S + s[:, None]) * A + a[None, :]
    key_SA = tl.load(keys_BSA + at_SA, inside_SA, 0)
    d_key_SA = tl.zeros([BLOCK_S, BLOCK_A], d_keys_BSA.dtype.element_ty)
    d_v_SA = tl.zeros([BLOCK_S, BLOCK_A], d_keys_BSA.dtype.element_ty)
    # The keys stay in registers while the loop over the steps adds to their gradient and to that of v_a.
    for t in range(T):
        d_energy_S = tl.load(d_energy_TBS + (t * B + b) * S + s, inside_S, 0)
        query_A = tl.load(query_TBA + (t * B + b) * M + a, inside_A, 0)
        hidden_SA = _tanh(query_A[None, :] + key_SA)
        d_v_SA += d_energy_S[:, None] * hidden_SA
        d_key_SA += d_energy_S[:, None] * (1 - hidden_SA * hidden_SA)
    # The common factor v_a of ∂cost/∂key; the partial sums of ∂cost/∂v_a are added up by the caller.
    v = tl.load(v_A + a, inside_A, 0)
    tl.store(d_keys_BSA + at_SA, v[None, :] * d_key_SA, inside_SA)
    tl.store(d_v_BXA + (b * tl.num_programs(1) + tl.program_id(1)) * A + a, tl.sum(d_v_SA, 0), inside_A)


def keys_backward(d_energy_TBS: Tensor, query_TBA: Tensor, keys_BSA: Tensor, v_A: Tensor) -> tuple[Tensor, Tensor]:
    """Return ∂cost/∂keys (B, S, A) and ∂cost/∂v_a (A), summed over the steps in registers.

    ∂cost/∂key_j = v_a ∘ Σ_i ∂cost/∂e_ij (1 − tanh²(query_i + key_j)); ∂cost/∂v_a = Σ_ij ∂cost/∂e_ij tanh(query_i + key_j).
    """
    T = len(query_TBA)
    B, S, A = keys_BSA.shape
    grid = B, triton.cdiv(S, BLOCK_S), triton.cdiv(A, BLOCK_A)
    d_keys_BSA = keys_BSA.new_empty(B, S, A)
    d_v_BXA = keys_BSA.new_empty(*grid[:2], A)  # one sum per program, so that they are always added in the same order
    _keys_backward[grid](
        d_energy_TBS,
        query_TBA,
        query_TBA.stride(1),
        keys_BSA,
        v_A,
        d_keys_BSA,
        d_v_BXA,
        T,
        B,
        S,
        A,
        BLOCK_S=BLOCK_S,
        BLOCK_A=BLOCK_A,
    )
    return d_keys_BSA, d_v_BXA.sum((0, 1))


BLOCK_N = 256
"""The number of state units that one program of a pointwise kernel computes."""
BLOCK_S, BLOCK_A = 8, 128
"""The numbers of source positions, and of alignment units or gates, in a block of an attention kernel."""

INTERPRETED = not isinstance(_gates, triton.JITFunction)
"""Whether Triton interprets kernels on CPU tensors (`TRITON_INTERPRET=1`, for tests) or compiles them for a GPU."""


def _rows(B: int, N: int) -> tuple[int, int]:
    """Return the grid of programs of a pointwise kernel: sentences × blocks of units."""
    return B, triton.cdiv(N, BLOCK_N)
