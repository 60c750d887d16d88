"""The operations of a decoder step in search other than its matrix products, as compiled loops and in PyTorch.

The letters of tensor names are those of `rnnsearch.model`: the R rows are the hypotheses of many sentences, adjacent for
each sentence, and each of the Q slots holds one source sentence. The functions accept any device and precision; float32 on a
CPU runs in compiled loops where they are available. Each row is computed independently of the other rows. The arguments of a
kernel are the tensors of the function that calls it, in the same order, and then its results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnsearch.ops import loops
from rnnsearch.ops.loops import kernel

if loops.AVAILABLE:
    from numba import carray

    from rnnsearch.ops.loops import exp, highest_apart, share, sigmoid, tanh

f32, f64, i64 = np.float32, np.float64, np.int64

LANES = 512
"""The number of lanes in the search for the best words. A lane consists of words that are LANES apart; lanes whose highest
logit is too low are skipped."""


def reset(
    states_XN: Tensor, projected_XM: Tensor, context_XY: Tensor | None, parents_R: Tensor, words_VY: Tensor, words_R: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the gated unit up to its second matrix product: return s, z, r ∘ s and W x + C c + b, all (R, N).

    Row i continues row `parents[i]` of the states s, of their projections (the first 2N columns are [U_z; U_r] s) and of the
    projected contexts; its projected word is row `words[i]` of `words_VY`. The first 3N columns of contexts and words belong
    to the candidate, z and r.
    """
    R, N = len(parents_R), states_XN.shape[1]
    if loops.run_on(states_XN):
        s_RN, z_RN, reset_RN, inputs_RN = states_XN.new_empty(4, R, N)
        context = words_VY if context_XY is None else context_XY
        scalars = (R, N, len(states_XN), projected_XM.shape[1], len(words_VY), words_VY.shape[1], context_XY is not None)
        into = (s_RN, z_RN, reset_RN, inputs_RN)
        _reset(scalars, states_XN, projected_XM, context, parents_R, words_VY, words_R, *into)
        return into
    # W x + C c + b of all gates; z and r with the projected state; then r ∘ s.
    s_RN = states_XN[parents_R]
    inputs_RG = words_VY[words_R, : 3 * N]
    if context_XY is not None:
        inputs_RG = inputs_RG + context_XY[parents_R, : 3 * N]
    z_RN, r_RN = torch.sigmoid(inputs_RG[:, N:] + projected_XM[parents_R, : 2 * N]).chunk(2, 1)
    return s_RN, z_RN, r_RN * s_RN, inputs_RG[:, :N]


@kernel
def _reset(p: Any) -> None:
    """Compute s, z, r ∘ s and the candidate's inputs, each (R, N).

    Scalars: R, N, X, M, V, Y, contextual. Tensors: those of `reset`; results: in the order above.
    """
    n = carray(p[0], (7,), f64)
    R, N, X, M, V, Y, contextual = int(n[0]), int(n[1]), int(n[2]), int(n[3]), int(n[4]), int(n[5]), n[6] != 0
    states, projected, contexts = carray(p[1], (X, N), f32), carray(p[2], (X, M), f32), carray(p[3], (X, Y), f32)
    parents, table, words = carray(p[4], (R,), i64), carray(p[5], (V, Y), f32), carray(p[6], (R,), i64)
    s_out, z_out = carray(p[7], (R, N), f32), carray(p[8], (R, N), f32)
    reset_out, inputs_out = carray(p[9], (R, N), f32), carray(p[10], (R, N), f32)
    first, last = share(R)
    # z = σ(W_z x + C_z c + U_z s) and r likewise; the first N columns of word and context are the candidate's.
    for i in range(first, last):
        parent = parents[i]
        state, from_state, word = states[parent], projected[parent], table[words[i]]
        s, z, out, inputs = s_out[i], z_out[i], reset_out[i], inputs_out[i]
        if contextual:
            context = contexts[parent]
            for k in range(N):
                s[k] = state[k]
                inputs[k] = word[k] + context[k]
                z[k] = sigmoid(word[N + k] + context[N + k] + from_state[k])
                out[k] = state[k] * sigmoid(word[2 * N + k] + context[2 * N + k] + from_state[N + k])
        else:
            for k in range(N):
                s[k] = state[k]
                inputs[k] = word[k]
                z[k] = sigmoid(word[N + k] + from_state[k])
                out[k] = state[k] * sigmoid(word[2 * N + k] + from_state[N + k])


def update(s_RN: Tensor, z_RN: Tensor, inputs_RN: Tensor, from_reset_RN: Tensor) -> Tensor:
    """Return s' = s + z ∘ (tanh(inputs + U [r ∘ s]) − s), the last part of the gated unit, (R, N)."""
    if loops.run_on(s_RN):
        next_RN = torch.empty_like(s_RN)
        _update(s_RN.shape, s_RN, z_RN, inputs_RN, from_reset_RN, next_RN)
        return next_RN
    return torch.lerp(s_RN, torch.tanh(inputs_RN + from_reset_RN), z_RN)


@kernel
def _update(p: Any) -> None:
    """Compute the next state. Scalars: R, N. Tensors: those of `update`; result: s' (R, N)."""
    n = carray(p[0], (2,), f64)
    R, N = int(n[0]), int(n[1])
    s_in, z_in, inputs_in = carray(p[1], (R, N), f32), carray(p[2], (R, N), f32), carray(p[3], (R, N), f32)
    product_in, out_RN = carray(p[4], (R, N), f32), carray(p[5], (R, N), f32)
    first, last = share(R)
    for i in range(first, last):
        s, z, inputs, product, out = s_in[i], z_in[i], inputs_in[i], product_in[i], out_RN[i]
        for k in range(N):
            out[k] = s[k] + z[k] * (tanh(inputs[k] + product[k]) - s[k])


def attend(
    query_RA: Tensor, keys_QSA: Tensor, v_a: Tensor, values_QSY: Tensor, lengths_Q: Tensor, slots_R: Tensor
) -> tuple[Tensor, Tensor]:
    """Return α = softmax_j(v_aᵀ tanh(query + key_j)) over the sentence's own positions, (R, S), and Σ_j α_j value_j, (R, Y).

    `query` may be a slice of columns of a wider tensor; `lengths` and `slots` are int64.
    """
    (_, S, A), R, Y = keys_QSA.shape, len(query_RA), values_QSY.shape[2]
    if loops.run_on(keys_QSA):
        alpha_RS, context_RY = keys_QSA.new_empty(R, S), keys_QSA.new_empty(R, Y)
        scalars = (R, S, A, Y, query_RA.stride(0), len(keys_QSA))
        _attend(scalars, query_RA, keys_QSA, v_a, values_QSY, lengths_Q, slots_R, alpha_RS, context_RY)
        return alpha_RS, context_RY
    # The energies, −∞ past the end of the sentence in the row's slot, and their softmax.
    energy_RS = torch.tanh(keys_QSA[slots_R] + query_RA.unsqueeze(1)) @ v_a
    outside_RS = torch.arange(S, device=energy_RS.device) >= lengths_Q[slots_R].unsqueeze(1)
    alpha_RS = torch.softmax(energy_RS.masked_fill(outside_RS, -torch.inf), 1)
    # Past a sentence's end, a slot holds values of an earlier sentence.
    values_RSY = values_QSY[slots_R].masked_fill(outside_RS.unsqueeze(2), 0)
    return alpha_RS, torch.bmm(alpha_RS.unsqueeze(1), values_RSY).squeeze(1)


@kernel
def _attend(p: Any) -> None:
    """Compute weights and contexts.

    Scalars: R, S, A, Y, M (row stride of the query), Q. Tensors: those of `attend`; results: alpha, contexts.
    """
    n = carray(p[0], (6,), f64)
    R, S, A, Y, M, Q = int(n[0]), int(n[1]), int(n[2]), int(n[3]), int(n[4]), int(n[5])
    queries, keys, v = carray(p[1], (R * M,), f32), carray(p[2], (Q, S, A), f32), carray(p[3], (A,), f32)
    values, lengths, slots = carray(p[4], (Q, S, Y), f32), carray(p[5], (Q,), i64), carray(p[6], (R,), i64)
    alpha, contexts = carray(p[7], (R, S), f32), carray(p[8], (R, Y), f32)
    first, last = share(R)
    for i in range(first, last):
        slot = slots[i]
        query, weights, context, length = queries[i * M : i * M + A], alpha[i], contexts[i], lengths[slot]
        # The energies e_j = v_aᵀ tanh(query + key_j), their softmax, and zero past the sentence's end.
        highest = f32(-np.inf)
        for j in range(length):
            key, energy = keys[slot, j], f32(0)
            for a in range(A):
                energy += v[a] * tanh(key[a] + query[a])
            weights[j] = energy
            highest = max(highest, energy)
        total = f32(0)
        for j in range(length):
            weights[j] = exp(weights[j] - highest)
            total += weights[j]
        for j in range(S):
            weights[j] = weights[j] / total if j < length else f32(0)
        # The context Σ_j α_j value_j, four positions per pass over `context`, to save memory accesses.
        for y in range(Y):
            context[y] = f32(0)
        j = 0
        while j + 4 <= length:
            w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
            v0, v1, v2, v3 = values[slot, j], values[slot, j + 1], values[slot, j + 2], values[slot, j + 3]
            for y in range(Y):
                context[y] += w0 * v0[y] + w1 * v1[y] + w2 * v2[y] + w3 * v3[y]
            j += 4
        while j < length:
            w0, v0 = weights[j], values[slot, j]
            for y in range(Y):
                context[y] += w0 * v0[y]
            j += 1


def best_words(product_RV: Tensor, factor_R: Tensor, bias_V: Tensor, count: int, banned_RX: Tensor) -> tuple[Tensor, Tensor]:
    """Return the `count` most probable words of each row: log p (R, W), the highest first, and the words (R, W) int64.

    The logits are factor ∘ product + bias. They overwrite `product`, except those of banned words. `banned` excludes some of
    the first X words; the probabilities of the remaining words do not change. If fewer than `count` words remain, the
    missing log p are −inf.
    """
    R, V = product_RV.shape
    if loops.run_on(product_RV):
        log_p_RW, words_RW = product_RV.new_empty(R, count), torch.empty(R, count, dtype=torch.int64)
        scratch_RX = product_RV.new_empty(R, min(V, LANES))
        scalars = (R, V, count, banned_RX.shape[1])
        _best_words(scalars, product_RV, factor_R, bias_V, banned_RX, log_p_RW, words_RW, scratch_RX)
        return log_p_RW, words_RW
    # log p over the whole vocabulary; banned words only lose their own probability, then the best words are selected.
    log_p_RV = torch.log_softmax(torch.addcmul(bias_V, product_RV, factor_R.unsqueeze(1), out=product_RV), 1)
    log_p_RV[:, : banned_RX.shape[1]].masked_fill_(banned_RX, -torch.inf)
    log_p_RW, words_RW = log_p_RV.topk(min(count, V), 1)
    # A vocabulary of fewer than `count` words.
    missing = count - log_p_RW.shape[1]
    return torch.nn.functional.pad(log_p_RW, (0, missing), value=-torch.inf), torch.nn.functional.pad(words_RW, (0, missing))


@kernel
def _best_words(p: Any) -> None:
    """Find the W most probable words of each row; the logits overwrite `product`.

    Scalars: R, V, W, X. Tensors: those of `best_words`; results: log p, words; then scratch (R, lanes).
    """
    n = carray(p[0], (4,), f64)
    R, V, W, X = int(n[0]), int(n[1]), int(n[2]), int(n[3])
    lanes = min(V, LANES)
    product, factors, bias = carray(p[1], (R, V), f32), carray(p[2], (R,), f32), carray(p[3], (V,), f32)
    banned, log_p, words = carray(p[4], (R, X), np.bool_), carray(p[5], (R, W), f32), carray(p[6], (R, W), i64)
    scratch = carray(p[7], (R, lanes), f32)
    first, last = share(R)
    for i in range(first, last):
        row, tops, best, chosen, factor = product[i], scratch[i], log_p[i], words[i], factors[i]
        # The logits W_o t + b_w, from the unscaled product.
        for k in range(V):
            row[k] = factor * row[k] + bias[k]
        # The highest logit of every lane, and of all; the total of the softmax, which includes the banned words.
        highest_apart(row, tops)
        highest = f32(-np.inf)
        for lane in range(lanes):
            highest = max(highest, tops[lane])
        total = f32(0)
        for k in range(V):
            total += exp(row[k] - highest)
        # Banned words cannot be chosen; their share of the total stays.
        for k in range(X):
            if banned[i, k]:
                row[k] = f32(-np.inf)
        # Insertion into the sorted list of the W best words, from those lanes that may contain one.
        for k in range(W):
            best[k] = f32(-np.inf)
            chosen[k] = 0
        for lane in range(lanes):
            if tops[lane] < best[W - 1]:
                continue
            for k in range(lane, V, lanes):
                logit = row[k]
                # Of equal logits, the word with the lower id comes first.
                if logit > best[W - 1] or (logit == best[W - 1] and k < chosen[W - 1]):
                    place = W - 1
                    while place > 0 and (best[place - 1] < logit or (best[place - 1] == logit and chosen[place - 1] > k)):
                        best[place], chosen[place] = best[place - 1], chosen[place - 1]
                        place -= 1
                    best[place], chosen[place] = logit, k
        # log p = logit − log Σ exp(logit).
        shift = highest + np.log(total)
        for k in range(W):
            best[k] -= shift


def quantize(x_RX: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Round each row to integers: return q and a factor (R) such that x ≈ factor ∘ (q − 128).

    q is uint8 from 1 to 255, (H, X) with H = `rows` ≥ R; the rows past R are padding.
    """
    R, X = x_RX.shape
    whole_HX = torch.empty(rows, X, dtype=torch.uint8)
    if loops.run_on(x_RX):
        factor_R = x_RX.new_empty(R)
        _quantize((R, X, rows), x_RX, whole_HX, factor_R)
        return whole_HX, factor_R
    # The largest magnitude of a row becomes 127; the shift by 128 makes the integers unsigned, as oneDNN requires.
    factor_R = x_RX.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / 127
    whole_HX[:R] = (x_RX / factor_R.unsqueeze(1)).round() + 128
    whole_HX[R:] = 128
    return whole_HX, factor_R


@kernel
def _quantize(p: Any) -> None:
    """Round rows to integers. Scalars: R, X, H. Tensors: x (R, X); results: integers (H, X) uint8 and factors (R)."""
    n = carray(p[0], (3,), f64)
    R, X, H = int(n[0]), int(n[1]), int(n[2])
    x, whole, factors = carray(p[1], (R, X), f32), carray(p[2], (H, X), np.uint8), carray(p[3], (R,), f32)
    first, last = share(H)
    for i in range(first, last):
        # Rows of padding are 128, which stands for zero.
        into = whole[i]
        if i >= R:
            for k in range(X):
                into[k] = np.uint8(128)
            continue
        # The factor, from the largest magnitude of the row; at least the smallest normal number, for rows of zeros.
        row, highest = x[i], f32(1.2e-38)
        for k in range(X):
            highest = max(highest, abs(row[k]))
        factor = highest / f32(127)
        factors[i] = factor
        for k in range(X):
            # Rounded to nearest by floor(v + 128.5), which is positive.
            into[k] = np.uint8(np.int32(row[k] / factor + f32(128.5)))


def maxout(from_state_RM: Tensor, from_context_RY: Tensor, from_word_VY: Tensor, words_R: Tensor, width: int) -> Tensor:
    """Return t (R, L), the maximum of each pair of elements of t~ (appendix A.2.2).

    t~ is the sum of the last `width` = 2L columns of the three projections; row i uses row `words[i]`, int64, of
    `from_word_VY`.
    """
    R, L = len(words_R), width // 2
    if loops.run_on(from_state_RM):
        t_RL = from_state_RM.new_empty(R, L)
        scalars = (R, L, from_state_RM.shape[1], from_context_RY.shape[1], len(from_word_VY))
        _maxout(scalars, from_state_RM, from_context_RY, from_word_VY, words_R, t_RL)
        return t_RL
    # t~ = U_o s + C_o c + (V_o E y + b_o), as L pairs, of which the maximum is t.
    t_RL2 = (from_state_RM[:, -width:] + from_context_RY[:, -width:] + from_word_VY[words_R, -width:]).view(R, L, 2)
    return t_RL2.amax(2)


@kernel
def _maxout(p: Any) -> None:
    """Compute the maxout layer. Scalars: R, L, M, Y, V. Tensors: those of `maxout`; result: t (R, L)."""
    n = carray(p[0], (5,), f64)
    R, L, M, Y, V = int(n[0]), int(n[1]), int(n[2]), int(n[3]), int(n[4])
    from_state, from_context = carray(p[1], (R, M), f32), carray(p[2], (R, Y), f32)
    from_word, words, t = carray(p[3], (V, Y), f32), carray(p[4], (R,), i64), carray(p[5], (R, L), f32)
    first, last = share(R)
    for i in range(first, last):
        state, context = from_state[i, M - 2 * L :], from_context[i, Y - 2 * L :]
        word, out = from_word[words[i], Y - 2 * L :], t[i]
        # t_k = max(t~_2k, t~_2k+1), with t~ = U_o s + C_o c + (V_o E y + b_o).
        for k in range(L):
            even = state[2 * k] + context[2 * k] + word[2 * k]
            odd = state[2 * k + 1] + context[2 * k + 1] + word[2 * k + 1]
            out[k] = max(even, odd)
