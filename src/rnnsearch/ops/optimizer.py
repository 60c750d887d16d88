"""One pass over weights, gradients and averages for an optimizer's step, as compiled loops (float32)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.ops import loops
from rnnsearch.ops.loops import kernel

if loops.AVAILABLE:
    from numba import carray

    from rnnsearch.ops.loops import share

f32, f64 = np.float32, np.float64


@kernel
def adadelta(p: Any) -> None:
    """Algorithm 1 of Zeiler (2012), on the given rows only, which may be all.

    Numbers V, E, R, ρ, ε, learning rate, scale of the gradient, step. w (V, E), g (R, E), rows (R) int64, mean square
    gradients (V, E), mean square updates (V, E), row_step (V): the step that a row's means are of. Every step that passed
    without a gradient has multiplied both by ρ and moved nothing.
    """
    numbers = carray(p[0], (8,), f64)
    V, E, R = int(numbers[0]), int(numbers[1]), int(numbers[2])
    rho, epsilon, rate, scale = f32(numbers[3]), f32(numbers[4]), f32(numbers[5]), f32(numbers[6])
    step = numbers[7]
    weights, gradients, rows = carray(p[1], (V, E), f32), carray(p[2], (R, E), f32), carray(p[3], (R,), np.int64)
    squares, updates, row_step = carray(p[4], (V, E), f32), carray(p[5], (V, E), f32), carray(p[6], (V,), f32)
    first, last = share(R)
    rest = f32(1) - rho
    for i in range(first, last):
        row = rows[i]
        decay = f32(numbers[3] ** (step - 1 - row_step[row]))
        row_step[row] = f32(step)
        w, g, square, moved = weights[row], gradients[i], squares[row], updates[row]
        for k in range(E):
            d = scale * g[k]
            s = rho * (decay * square[k]) + rest * d * d
            u = decay * moved[k]
            change = np.sqrt((u + epsilon) / (s + epsilon)) * d
            square[k] = s
            moved[k] = rho * u + rest * change * change
            w[k] -= rate * change


@kernel
def adam(p: Any) -> None:
    """Kingma & Ba (2015), on all rows: without a gradient a weight still moves on, by its momentum.

    Numbers V, E, β1, β2, ε, the step size with the first correction in it, √ of the second, scale of the gradient. w (V, E),
    g (R, E), slots (V) int64: a row's gradient is row slots[row] of g, or none where that is negative; momentum (V, E), mean
    square (V, E).
    """
    numbers = carray(p[0], (8,), f64)
    V, E = int(numbers[0]), int(numbers[1])
    beta1, beta2, epsilon = f32(numbers[2]), f32(numbers[3]), f32(numbers[4])
    size, root, scale = f32(numbers[5]), f32(numbers[6]), f32(numbers[7])
    weights, slots = carray(p[1], (V, E), f32), carray(p[3], (V,), np.int64)
    # As many rows as there are slots is more than there are gradients: only those that slots name are read.
    gradients = carray(p[2], (V, E), f32)
    momenta, squares = carray(p[4], (V, E), f32), carray(p[5], (V, E), f32)
    first, last = share(V)
    rest1, rest2 = f32(1) - beta1, f32(1) - beta2
    for row in range(first, last):
        slot = slots[row]
        w, momentum, square = weights[row], momenta[row], squares[row]
        if slot >= 0:
            g = gradients[slot]
            for k in range(E):
                d = scale * g[k]
                momentum[k] = beta1 * momentum[k] + rest1 * d
                square[k] = beta2 * square[k] + rest2 * d * d
                w[k] -= size * momentum[k] / (np.sqrt(square[k]) / root + epsilon)
        else:
            for k in range(E):
                momentum[k] *= beta1
                square[k] *= beta2
                w[k] -= size * momentum[k] / (np.sqrt(square[k]) / root + epsilon)
