"""The functions of `pointwise` as compiled loops (float32).

The docstring of every kernel lists its scalars, then its tensors with their shapes, in the order of its arguments. The
threads divide the B sentences. `X` is the width of `d_row`, which holds the gradients of a step's projections: candidate, z,
r (3N) and, if there is an alignment model, the query (A).
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
    """Compute α = softmax_j(v_aᵀ tanh(query + key_j)) over the sentence's own positions, and the context Σ_j α_j h_j.

    Scalars: B, S, A, C, M. Tensors: keys (B, S, A), projected (B, M), whose last A columns are the query, v_a (A), h (B, S,
    C), lengths (B) int64; results: queries (B, A), alpha (B, S), contexts (B, C).
    """
    scalars = carray(p[0], (5,), f64)
    B, S, A, C, M = int(scalars[0]), int(scalars[1]), int(scalars[2]), int(scalars[3]), int(scalars[4])
    keys, projected, v = carray(p[1], (B, S, A), f32), carray(p[2], (B, M), f32), carray(p[3], (A,), f32)
    h, lengths = carray(p[4], (B, S, C), f32), carray(p[5], (B,), np.int64)
    queries, alpha, contexts = carray(p[6], (B, A), f32), carray(p[7], (B, S), f32), carray(p[8], (B, C), f32)
    first, last = share(B)
    for b in range(first, last):
        query, projected_query, weights, context = queries[b], projected[b, M - A :], alpha[b], contexts[b]
        # The query is copied for the backward pass, since the next step overwrites `projected`.
        for a in range(A):
            query[a] = projected_query[a]
        # The energies e_j = v_aᵀ tanh(query + key_j), and the highest of them.
        highest = f32(-np.inf)
        length = lengths[b]
        for s in range(length):
            key, energy = keys[b, s], f32(0)
            for a in range(A):
                energy += v[a] * tanh(key[a] + query[a])
            weights[s] = energy
            highest = max(highest, energy)
        # The softmax; subtracting the highest energy prevents overflow.
        total = f32(0)
        for s in range(length):
            weights[s] = exp(weights[s] - highest)
            total += weights[s]
        # The context, summed in the pass that divides the weights by their total; weights of padding are zero.
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
    """Compute the derivative of `attention_forward`, without the factor v_a in d_keys, by which the caller multiplies.

    Scalars: B, S, A, C, X, has_d_alpha (1 if d_alpha is used). Tensors: keys (B, S, A), queries (B, A), v_a (A), h (B, S,
    C), lengths (B) int64, alpha (B, S), d_alpha (B, S), d_contexts (B, C); results: the last A columns of d_row (B, X),
    additions to d_keys (B, S, A), and additions of each thread to its row of d_v (threads, A); scratch (B, S).
    """
    scalars = carray(p[0], (6,), f64)
    B, S, A, C, X = int(scalars[0]), int(scalars[1]), int(scalars[2]), int(scalars[3]), int(scalars[4])
    has_d_alpha = scalars[5] != 0
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
        # ∂cost/∂α_j = h_j · ∂cost/∂c, plus the gradient of α from outside; its mean under α is Σ_k α_k ∂cost/∂α_k.
        mean = f32(0)
        for s in range(length):
            annotation, dot = h[b, s], f32(0)
            for c in range(C):
                dot += annotation[c] * d_context[c]
            if has_d_alpha:
                dot += d_alpha[b, s]
            d_weights[s] = dot
            mean += weights[s] * dot
        # The derivative of the softmax, ∂cost/∂e_j = α_j (∂cost/∂α_j − mean), and that of the recomputed tanh.
        for a in range(A):
            d_query[a] = f32(0)
        for s in range(length):
            d_energy = weights[s] * (d_weights[s] - mean)
            key, d_key = keys[b, s], d_keys[b, s]
            # ∂e/∂v_a = tanh; ∂e/∂query and ∂e/∂key are v_a ∘ (1 − tanh²), of which v_a follows later.
            for a in range(A):
                hidden = tanh(key[a] + query[a])
                d_v[a] += d_energy * hidden
                slope = d_energy - d_energy * hidden * hidden
                d_query[a] += slope
                d_key[a] += slope
        # The factor v_a of the query's gradient.
        for a in range(A):
            d_query[a] *= v[a]


@kernel
def gates_forward(p: Any) -> None:
    """Compute the gates z and r from the sum of their projections, and r ∘ s.

    Scalars: B, N, M, contextual. Tensors: inputs (B, 3N), context (B, 3N; added if contextual), projected (B, M), whose
    first 2N columns are [U_z; U_r] s, s (B, N); results: zr (B, 2N), reset (B, N).
    """
    scalars = carray(p[0], (4,), f64)
    B, N, M, contextual = int(scalars[0]), int(scalars[1]), int(scalars[2]), scalars[3] != 0
    inputs, context, projected = carray(p[1], (B, 3 * N), f32), carray(p[2], (B, 3 * N), f32), carray(p[3], (B, M), f32)
    s, zr, reset = carray(p[4], (B, N), f32), carray(p[5], (B, 2 * N), f32), carray(p[6], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        # z and r are adjacent, and so are their projections, so that one loop computes both.
        from_input, from_context, from_state, gates = inputs[b, N:], context[b, N:], projected[b], zr[b]
        if contextual:
            for k in range(2 * N):
                gates[k] = sigmoid(from_input[k] + from_state[k] + from_context[k])
        else:
            for k in range(2 * N):
                gates[k] = sigmoid(from_input[k] + from_state[k])
        # r ∘ s, the operand of the product with U.
        r, state, out = gates[N:], s[b], reset[b]
        for k in range(N):
            out[k] = r[k] * state[k]


@kernel
def candidate_forward(p: Any) -> None:
    """Compute s~ = tanh of the sum of its projections, and s' = (1 − z) ∘ s + z ∘ s~, zero outside a sentence.

    Scalars: B, N, contextual, masked. Tensors: inputs (B, 3N), context (B, 3N; added if contextual), zr (B, 2N), s (B, N),
    mask (B; multiplies s' if masked), candidate (B, N), U [r ∘ s] on entry and s~ on return; result: s' (B, N).
    """
    scalars = carray(p[0], (4,), f64)
    B, N, contextual, masked = int(scalars[0]), int(scalars[1]), scalars[2] != 0, scalars[3] != 0
    inputs, context, zr = carray(p[1], (B, 3 * N), f32), carray(p[2], (B, 3 * N), f32), carray(p[3], (B, 2 * N), f32)
    s, mask, candidate = carray(p[4], (B, N), f32), carray(p[5], (B,), f32), carray(p[6], (B, N), f32)
    next_s = carray(p[7], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        from_input, from_context, z, state, new, out = inputs[b], context[b], zr[b], s[b], candidate[b], next_s[b]
        # W x + C c + b + U [r ∘ s], whose tanh is the candidate.
        factor = mask[b] if masked else f32(1)
        if contextual:
            for k in range(N):
                new[k] += from_context[k]
        # s' = s + z ∘ (s~ − s), which equals (1 − z) ∘ s + z ∘ s~.
        for k in range(N):
            new[k] = tanh(new[k] + from_input[k])
            out[k] = factor * (state[k] + z[k] * (new[k] - state[k]))


@kernel
def candidate_backward(p: Any) -> None:
    """Compute the gradients of the projections of s~ and z.

    Scalars: B, N, X, has_added (1 if `added` is used), masked. Tensors: d_s (B, N), ∂cost/∂s' on entry and the part of
    ∂cost/∂s from (1 − z) ∘ s on return, added (B, N; added to d_s first), mask (B; multiplies the sum if masked), zr (B,
    2N), candidate (B, N), s (B, N); result: the first 2N columns of d_row (B, X).
    """
    scalars = carray(p[0], (5,), f64)
    B, N, X, has_added, masked = int(scalars[0]), int(scalars[1]), int(scalars[2]), scalars[3] != 0, scalars[4] != 0
    d_s, added, mask = carray(p[1], (B, N), f32), carray(p[2], (B, N), f32), carray(p[3], (B,), f32)
    zr, candidate, s = carray(p[4], (B, 2 * N), f32), carray(p[5], (B, N), f32), carray(p[6], (B, N), f32)
    d_row = carray(p[7], (B, X), f32)
    first, last = share(B)
    for b in range(first, last):
        d_state, d_added, z, new, state = d_s[b], added[b], zr[b], candidate[b], s[b]
        d_new, d_z = d_row[b], d_row[b, N:]
        # The gradient from the next step, plus that from the cost of this state; zero outside a sentence.
        factor = mask[b] if masked else f32(1)
        if has_added:
            for k in range(N):
                d_state[k] += d_added[k]
        # From s' = s + z ∘ (s~ − s), with tanh' = 1 − s~² and σ' = z − z².
        for k in range(N):
            d = factor * d_state[k]
            d_new[k] = d * z[k] * (f32(1) - new[k] * new[k])
            d_z[k] = d * (new[k] - state[k]) * (z[k] - z[k] * z[k])
            d_state[k] = d - d * z[k]


@kernel
def reset_backward(p: Any) -> None:
    """Compute the derivatives of r ∘ s with respect to the projection of r and to s.

    Scalars: B, N, X. Tensors: d_reset (B, N), zr (B, 2N), s (B, N); results: columns 2N … 3N of d_row (B, X), and additions
    to d_s (B, N).
    """
    scalars = carray(p[0], (3,), f64)
    B, N, X = int(scalars[0]), int(scalars[1]), int(scalars[2])
    d_reset, zr, s = carray(p[1], (B, N), f32), carray(p[2], (B, 2 * N), f32), carray(p[3], (B, N), f32)
    d_row, d_s = carray(p[4], (B, X), f32), carray(p[5], (B, N), f32)
    first, last = share(B)
    for b in range(first, last):
        # ∂(r ∘ s)/∂(projection of r) = s ∘ (r − r²), and ∂(r ∘ s)/∂s = r.
        d, r, state, d_r, d_state = d_reset[b], zr[b, N:], s[b], d_row[b, 2 * N :], d_s[b]
        for k in range(N):
            d_r[k] = d[k] * state[k] * (r[k] - r[k] * r[k])
            d_state[k] += d[k] * r[k]
