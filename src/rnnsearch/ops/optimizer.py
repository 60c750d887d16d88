"""Optimizer steps as compiled loops (float32), each with a single pass over weights, gradients and averages."""

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
    """Update all or some rows of a matrix by Adadelta (Zeiler 2012, Algorithm 1).

    Scalars: V, E, R, ρ, ε, learning rate, scale of the gradient, step. Tensors: w (V, E), g (R, E), rows (R) int64, mean
    square gradients (V, E), mean square updates (V, E), row_step (V), the step of a row's last update. A step in which the
    gradient of a row is zero multiplies both means of the row by ρ and leaves its weights unchanged; the kernel applies all
    such steps since the row's last update at once.
    """
    scalars = carray(p[0], (8,), f64)
    V, E, R = int(scalars[0]), int(scalars[1]), int(scalars[2])
    rho, epsilon, rate, scale = f32(scalars[3]), f32(scalars[4]), f32(scalars[5]), f32(scalars[6])
    step = scalars[7]
    weights, gradients, rows = carray(p[1], (V, E), f32), carray(p[2], (R, E), f32), carray(p[3], (R,), np.int64)
    squares, updates, row_step = carray(p[4], (V, E), f32), carray(p[5], (V, E), f32), carray(p[6], (V,), f32)
    # The threads divide the rows of the gradient.
    first, last = share(R)
    rest = f32(1) - rho
    for i in range(first, last):
        row = rows[i]
        # The decay of both means in the n steps since the last update, as one factor ρⁿ.
        decay = f32(scalars[3] ** (step - 1 - row_step[row]))
        row_step[row] = f32(step)
        w, g, square, update = weights[row], gradients[i], squares[row], updates[row]
        # E[g²] is accumulated first; then Δx = −RMS[Δx] / RMS[g] · g; E[Δx²] is accumulated last.
        for k in range(E):
            d = scale * g[k]
            s = rho * (decay * square[k]) + rest * d * d
            u = decay * update[k]
            change = np.sqrt((u + epsilon) / (s + epsilon)) * d
            square[k] = s
            update[k] = rho * u + rest * change * change
            w[k] -= rate * change


@kernel
def adam(p: Any) -> None:
    """Update all rows of a matrix by Adam (Kingma & Ba 2015, Algorithm 1).

    Momentum changes a weight even if its gradient is zero, so all rows are updated.

    Scalars: V, E, β1, β2, ε, the step size times the first bias correction, √ of the second, scale of the gradient. Tensors:
    w (V, E), g (R, E), gradient_rows (V) int64, the row of g for each row of w, or a negative number for none, momentum
    (V, E), mean square (V, E).
    """
    scalars = carray(p[0], (8,), f64)
    V, E = int(scalars[0]), int(scalars[1])
    beta1, beta2, epsilon = f32(scalars[2]), f32(scalars[3]), f32(scalars[4])
    size, root, scale = f32(scalars[5]), f32(scalars[6]), f32(scalars[7])
    weights, gradient_rows = carray(p[1], (V, E), f32), carray(p[3], (V,), np.int64)
    # The view has V rows, more than g has; only the rows in gradient_rows are read.
    gradients = carray(p[2], (V, E), f32)
    momenta, squares = carray(p[4], (V, E), f32), carray(p[5], (V, E), f32)
    first, last = share(V)
    rest1, rest2 = f32(1) - beta1, f32(1) - beta2
    for row in range(first, last):
        # m = β1 m + (1 − β1) g and v = β2 v + (1 − β2) g²; the last line of each loop includes the bias corrections. In the
        # second branch, g is zero.
        gradient_row = gradient_rows[row]
        w, momentum, square = weights[row], momenta[row], squares[row]
        if gradient_row >= 0:
            g = gradients[gradient_row]
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
