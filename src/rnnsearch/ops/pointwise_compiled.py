"""The functions of `pointwise` as compiled loops (float32).

Every kernel states its numbers, then its tensors with their shapes. `X` is the width of a row that holds, side by side, the
gradients of a step's projections: candidate, z, r (3N) and, where there is an alignment model, the query (A).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.ops import loops
from rnnsearch.ops.loops import kernel

if loops.AVAILABLE:
    from numba import carray

    from rnnsearch.ops.loops import exp, share, sigmoid, tanh, this_thread

f32, f64 = np.float32, np.float64


@kernel
def attention_forward(p: Any) -> None:
    """α = softmax_j(v_aᵀ tanh(query + key_j)) over a sentence's own positions, and the context Σ_j α_j h_j.

    Numbers B, S, A, C, M. keys (B, S, A), projected (B, M), whose last A columns are the query, v_a (A), h (B, S, C),
    lengths (B) int64; into queries (B, A), alpha (B, S), contexts (B, C).
    """
    scalars = carray(p[0], (5,), f64)
    B, S, A, C, M = int(scalars[0]), int(scalars[1]), int(scalars[2]), int(scalars[3]), int(scalars[4])
    keys, projected, v = carray(p[1], (B, S, A), f32), carray(p[2], (B, M), f32), carray(p[3], (A,), f32)
    h, lengths = carray(p[4], (B, S, C), f32), carray(p[5], (B,), np.int64)
    queries, alpha, contexts = carray(p[6], (B, A), f32), carray(p[7], (B, S), f32), carray(p[8], (B, C), f32)
    first, last = share(B)
    for b in range(first, last):
        query, asked, weights, context = queries[b], projected[b, M - A :], alpha[b], contexts[b]
        for a in range(A):
            query[a] = asked[a]
        highest = f32(-np.inf)
        length = lengths[b]
        for s in range(length):
            key, energy = keys[b, s], f32(0)
            for a in range(A):
                energy += v[a] * tanh(key[a] + query[a])
            weights[s] = energy
            highest = max(highest, energy)
        total = f32(0)
        for s in range(length):
            weights[s] = exp(weights[s] - highest)
            total += weights[s]
        for c in range(C):
            context[c] = f32(0)
        for s in range(length):
            weight, annotation = weights[s] / total, h[b, s]
            weights[s] = weight
            for c in range(C):
                context[c] += weight * annotation[c]
        for s in range(length, S):
            weights[s] = f32(0)


@kernel
def attention_backward(p: Any) -> None:
    """Back through a step of `attention_forward`; what multiplies v_a in every term of d_keys is left to the caller.

    Numbers B, S, A, C, X, given (1 if there is a d_alpha). keys (B, S, A), queries (B, A), v_a (A), h (B, S, C),
    lengths (B) int64, alpha (B, S), d_alpha (B, S), d_contexts (B, C); into the last A columns of d_row (B, X); added to
    d_keys (B, S, A) and, a row a thread, to d_v (threads, A). scratch (B, S).
    """
    scalars = carray(p[0], (6,), f64)
    B, S, A, C, X = int(scalars[0]), int(scalars[1]), int(scalars[2]), int(scalars[3]), int(scalars[4])
    given = scalars[5] != 0
    keys, queries, v = carray(p[1], (B, S, A), f32), carray(p[2], (B, A), f32), carray(p[3], (A,), f32)
    h, lengths = carray(p[4], (B, S, C), f32), carray(p[5], (B,), np.int64)
    alpha, d_alpha, d_contexts = carray(p[6], (B, S), f32), carray(p[7], (B, S), f32), carray(p[8], (B, C), f32)
    d_row, d_keys = carray(p[9], (B, X), f32), carray(p[10], (B, S, A), f32)
    d_v = carray(p[11], (this_thread() + 1, A), f32)[this_thread()]
    scratch = carray(p[12], (B, S), f32)
    first, last = share(B)
    for b in range(first, last):
        query, d_query, weights, d_context, d_weights = queries[b], d_row[b, X - A :], alpha[b], d_contexts[b], scratch[b]
        length = lengths[b]
        mean = f32(0)
        for s in range(length):
            annotation, dot = h[b, s], f32(0)
            for c in range(C):
                dot += annotation[c] * d_context[c]
            if given:
                dot += d_alpha[b, s]
            d_weights[s] = dot
            mean += weights[s] * dot
        for a in range(A):
            d_query[a] = f32(0)
        for s in range(length):
            d_energy = weights[s] * (d_weights[s] - mean)
            key, d_key = keys[b, s], d_keys[b, s]
            for a in range(A):
                hidden = tanh(key[a] + query[a])
                d_v[a] += d_energy * hidden
                slope = d_energy - d_energy * hidden * hidden
                d_query[a] += slope
                d_key[a] += slope
        for a in range(A):
            d_query[a] *= v[a]


@kernel
def gates_forward(p: Any) -> None:
    """z and r from the sum of their projections, and r ∘ s.

    Numbers B, N, M, contextual. inputs (B, 3N), context (B, 3N; added if contextual), projected (B, M), whose first 2N
    columns are [U_z; U_r] s, s (B, N); into zr (B, 2N), reset (B, N).
    """
    scalars = carray(p[0], (4,), f64)
    B, N, M, contextual = int(scalars[0]), int(scalars[1]), int(scalars[2]), scalars[3] != 0
    inputs, context, projected = carray(p[1], (B, 3 * N), f32), carray(p[2], (B, 3 * N), f32), carray(p[3], (B, M), f32)
    s, zr, reset = carray(p[4], (B, N), f32), carray(p[5], (B, 2 * N), f32), carray(p[6], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        given, more, own, gates = inputs[b, N:], context[b, N:], projected[b], zr[b]
        if contextual:
            for k in range(2 * N):
                gates[k] = sigmoid(given[k] + own[k] + more[k])
        else:
            for k in range(2 * N):
                gates[k] = sigmoid(given[k] + own[k])
        r, state, out = gates[N:], s[b], reset[b]
        for k in range(N):
            out[k] = r[k] * state[k]


@kernel
def candidate_forward(p: Any) -> None:
    """s~ = tanh of the sum of its projections, and s' = (1 − z) ∘ s + z ∘ s~, zero outside a sentence.

    Numbers B, N, contextual, masked. inputs (B, 3N), context (B, 3N; added if contextual), zr (B, 2N), s (B, N), mask (B;
    multiplies s' if masked), candidate (B, N), which holds U [r ∘ s] and becomes s~; into s' (B, N).
    """
    scalars = carray(p[0], (4,), f64)
    B, N, contextual, masked = int(scalars[0]), int(scalars[1]), scalars[2] != 0, scalars[3] != 0
    inputs, context, zr = carray(p[1], (B, 3 * N), f32), carray(p[2], (B, 3 * N), f32), carray(p[3], (B, 2 * N), f32)
    s, mask, candidate = carray(p[4], (B, N), f32), carray(p[5], (B,), f32), carray(p[6], (B, N), f32)
    next_s = carray(p[7], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        given, more, z, state, new, out = inputs[b], context[b], zr[b], s[b], candidate[b], next_s[b]
        factor = mask[b] if masked else f32(1)
        if contextual:
            for k in range(N):
                new[k] += more[k]
        for k in range(N):
            new[k] = tanh(new[k] + given[k])
            out[k] = factor * (state[k] + z[k] * (new[k] - state[k]))


@kernel
def candidate_backward(p: Any) -> None:
    """Back to the projections of s~ and z.

    Numbers B, N, X, given (1 if there is more), masked. d_s (B, N), which becomes ∂cost/∂s so far, more (B, N; added to d_s
    first), mask (B; multiplies their sum if masked), zr (B, 2N), candidate (B, N), s (B, N); into the first 2N columns of
    d_row (B, X).
    """
    scalars = carray(p[0], (5,), f64)
    B, N, X, given, masked = int(scalars[0]), int(scalars[1]), int(scalars[2]), scalars[3] != 0, scalars[4] != 0
    d_s, more, mask = carray(p[1], (B, N), f32), carray(p[2], (B, N), f32), carray(p[3], (B,), f32)
    zr, candidate, s = carray(p[4], (B, 2 * N), f32), carray(p[5], (B, N), f32), carray(p[6], (B, N), f32)
    d_row = carray(p[7], (B, X), f32)
    first, last = share(B)
    for b in range(first, last):
        d_state, added, z, new, state = d_s[b], more[b], zr[b], candidate[b], s[b]
        d_new, d_z = d_row[b], d_row[b, N:]
        factor = mask[b] if masked else f32(1)
        if given:
            for k in range(N):
                d_state[k] += added[k]
        for k in range(N):
            d = factor * d_state[k]
            d_new[k] = d * z[k] * (f32(1) - new[k] * new[k])
            d_z[k] = d * (new[k] - state[k]) * (z[k] - z[k] * z[k])
            d_state[k] = d - d * z[k]


@kernel
def reset_backward(p: Any) -> None:
    """Back through r ∘ s: to the projection of r, and to s.

    Numbers B, N, X. d_reset (B, N), zr (B, 2N), s (B, N); into columns 2N … 3N of d_row (B, X), added to d_s (B, N).
    """
    scalars = carray(p[0], (3,), f64)
    B, N, X = int(scalars[0]), int(scalars[1]), int(scalars[2])
    d_reset, zr, s = carray(p[1], (B, N), f32), carray(p[2], (B, 2 * N), f32), carray(p[3], (B, N), f32)
    d_row, d_s = carray(p[4], (B, X), f32), carray(p[5], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        d, r, state, d_r, d_state = d_reset[b], zr[b, N:], s[b], d_row[b, 2 * N :], d_s[b]
        for k in range(N):
            d_r[k] = d[k] * state[k] * (r[k] - r[k] * r[k])
            d_state[k] += d[k] * r[k]
