"""The softmax and the gradient of its cross-entropy for `cross_entropy`, as compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.ops import loops
from rnnsearch.ops.loops import kernel

if loops.AVAILABLE:
    from numba import carray

    from rnnsearch.ops.loops import exp, from_bfloat16, highest_of, share, this_thread, to_bfloat16

f32, f64 = np.float32, np.float64


@kernel
def softmax_backward(p: Any) -> None:
    """Overwrite the logits with the gradient of the label-smoothed NLL with respect to them.

    Scalars: R, V, epsilon, scale (of the gradient), rounded. Inputs: logits (R, V), words (R) int64. Outputs: nll (R), the
    NLL, and smoothed (R), the mean of −log p over the vocabulary. Each thread adds to its row of d_bias (threads, V). If
    `rounded`, logits and gradient are bfloat16, and the bias (V) is added to the logits first. scratch is (threads, V).
    """
    scalars = carray(p[0], (5,), f64)
    R, V, epsilon, scale, rounded = int(scalars[0]), int(scalars[1]), f32(scalars[2]), f32(scalars[3]), scalars[4] != 0
    logits, logits_16, words = carray(p[1], (R, V), f32), carray(p[1], (R, V), np.uint16), carray(p[2], (R,), np.int64)
    nll, smoothed = carray(p[3], (R,), f32), carray(p[4], (R,), f32)
    d_bias = carray(p[5], (this_thread() + 1, V), f32)[this_thread()]
    bias, scratch = carray(p[6], (V,), f32), carray(p[7], (this_thread() + 1, V), f32)[this_thread()]
    first, last = share(R)
    for i in range(first, last):
        # In bfloat16, the logits of a row are converted to float32 in the thread's scratch row, with the bias added.
        row, row_16, word = scratch if rounded else logits[i], logits_16[i], words[i]
        if rounded:
            for k in range(V):
                row[k] = from_bfloat16(row_16[k]) + bias[k]
        # One pass over the row: exp(logit − highest), its total, and the sum of the shifted logits for label smoothing.
        highest = highest_of(row)
        total, linear, chosen = f32(0), f32(0), row[word]
        for k in range(V):
            shifted = row[k] - highest
            linear += shifted
            row[k] = exp(shifted)
            total += row[k]
        # NLL = log Σ exp(logit) − logit of the word; the mean of −log p over the vocabulary, for label smoothing.
        log_total = np.log(total)
        nll[i] = log_total + highest - chosen
        smoothed[i] = log_total - linear / f32(V)
        # The gradient, scale · (p − ε / V − (1 − ε) at the word); the row holds p · total.
        factor, smoothing = scale / total, scale * epsilon / f32(V)
        row[word] -= (f32(1) - epsilon) * total
        for k in range(V):
            d = factor * row[k] - smoothing
            row[k] = d
            d_bias[k] += d
        if rounded:
            for k in range(V):
                row_16[k] = to_bfloat16(row[k])


@kernel
def paired_softmax_backward(p: Any) -> None:
    """Do the same as `softmax_backward` for pairs of rows 2i and 2i + 1 that predict the same word, with their divergence.

    Scalars: R, V, epsilon, scale, rounded, weight. The cost includes weight times the mean of KL(p | q) and KL(q | p). The
    last tensor, divergence (R / 2), receives the sum of both. scratch is (threads, 2, V).
    """
    scalars = carray(p[0], (6,), f64)
    R, V, epsilon, scale, rounded = int(scalars[0]), int(scalars[1]), f32(scalars[2]), f32(scalars[3]), scalars[4] != 0
    half, smoothing = f32(scalars[5]) / f32(2), scale * epsilon / f32(V)
    logits, logits_16, words = carray(p[1], (R, V), f32), carray(p[1], (R, V), np.uint16), carray(p[2], (R,), np.int64)
    nll, smoothed = carray(p[3], (R,), f32), carray(p[4], (R,), f32)
    d_bias = carray(p[5], (this_thread() + 1, V), f32)[this_thread()]
    bias, scratch = carray(p[6], (V,), f32), carray(p[7], (this_thread() + 1, 2, V), f32)[this_thread()]
    divergence = carray(p[8], (R // 2,), f32)
    first, last = share(R // 2)
    for pair in range(first, last):
        i, word = 2 * pair, words[2 * pair]
        rows = scratch if rounded else logits[i : i + 2]
        # The logits of both rows become log p and log q; the NLL of the word, and the mean of −log p, as above.
        for j in range(2):
            row, row_16 = rows[j], logits_16[i + j]
            if rounded:
                for k in range(V):
                    row[k] = from_bfloat16(row_16[k]) + bias[k]
            highest = highest_of(row)
            total, linear = f32(0), f32(0)
            for k in range(V):
                shifted = row[k] - highest
                linear += shifted
                total += exp(shifted)
            log_total = np.log(total)
            for k in range(V):
                row[k] -= highest + log_total
            nll[i + j] = -row[word]
            smoothed[i + j] = log_total - linear / f32(V)
        # KL(p | q) and KL(q | p), whose sum is the divergence of the pair.
        log_p, log_q = rows[0], rows[1]
        kl_pq, kl_qp = f32(0), f32(0)
        for k in range(V):
            difference = log_p[k] - log_q[k]
            kl_pq += exp(log_p[k]) * difference
            kl_qp -= exp(log_q[k]) * difference
        divergence[pair] = kl_pq + kl_qp
        # The gradients with respect to both rows of logits, of the label-smoothed NLL and of the divergence; they overwrite
        # log p and log q. The loop below subtracts 1 − ε at the word.
        for k in range(V):
            p_k, q_k, difference = exp(log_p[k]), exp(log_q[k]), log_p[k] - log_q[k]
            d_p = scale * (p_k + half * (p_k * (difference - kl_pq) + p_k - q_k)) - smoothing
            d_q = scale * (q_k - half * (q_k * (difference + kl_qp) + p_k - q_k)) - smoothing
            log_p[k] = d_p
            log_q[k] = d_q
            d_bias[k] += d_p + d_q
        # The target distribution's 1 − ε at the word, in both rows.
        for j in range(2):
            rows[j, word] -= scale * (f32(1) - epsilon)
            d_bias[word] -= scale * (f32(1) - epsilon)
            if rounded:
                row_16 = logits_16[i + j]
                for k in range(V):
                    row_16[k] = to_bfloat16(rows[j, k])
