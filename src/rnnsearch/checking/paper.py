"""The paper's model in NumPy, in the symbols of appendix A, with a switch at each place where implementations deviate.

A minibatch is the first axis: `B` sentences, padded to `Tx` words, with a mask that is true at words. All functions take
complex numbers, too, for derivatives by a complex step: d f(w + ε d)/dε = Im f(w + i ε d) / ε, without cancellation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

KEEPS_STATE = "padding-keeps-state"
"""The encoder keeps its state at padding. This is no deviation, but it matters together with one that reads the padding."""


class Paper:
    """The equations of the paper with given weights; each name in `deviations` changes the equation in which it stands.

    `name@encoder` and `name@decoder` change the gated unit of one side alone.
    """

    def __init__(self, weights: Mapping[str, Array], deviations: frozenset[str] = frozenset()) -> None:
        self.p = weights
        self.deviations = deviations

    def has(self, name: str, side: str = "") -> bool:
        return name in self.deviations or f"{name}@{side}" in self.deviations

    def gated_unit(self, s: Array, x: Array, c: Array) -> Array:
        """Return s_i = f(s_{i−1}, x, c) with the decoder's weights (A.1.1)."""
        return self._unit("dec", s, x, c)

    def gates(self, suffix: str, s: Array, x: Array, c: Array | None = None) -> tuple[Array, Array, Array]:
        """Return z_i, r_i and the candidate s~_i of the gated unit whose weights have this suffix (A.1.1)."""

        def affine(gate: str) -> Array:
            total = x @ self.p[f"W{gate}_{suffix}"].T
            return total if c is None else total + c @ self.p[f"C{gate}_{suffix}"].T

        side = "decoder" if suffix == "dec" else "encoder"
        turned = self.has("recurrent-transposed", side)
        U, Uz, Ur = (self.p[f"{name}_{suffix}"].T if turned else self.p[f"{name}_{suffix}"] for name in ("U", "Uz", "Ur"))
        z = _sigmoid(affine("z") + s @ Uz.T)
        r = np.ones_like(z) if self.has("no-reset-gate", side) else _sigmoid(affine("r") + s @ Ur.T)
        recurrent = r * (s @ U.T) if self.has("reset-after-product", side) else (r * s) @ U.T
        total = affine("") + recurrent
        if not self.has("no-candidate-bias", side):
            total = total + self.p[f"b_{suffix}"]
        candidate = _relu(total) if self.has("candidate-relu", side) else np.tanh(total)
        return (1 - z if self.has("gates-exchanged", side) else z), r, candidate

    def _unit(self, suffix: str, s: Array, x: Array, c: Array | None = None) -> Array:
        z, _, candidate = self.gates(suffix, s, x, c)
        return (1 - z) * s + z * candidate

    def encoder(self, x: Array, mask: Array) -> Array:
        """Return the annotations h_j = [h→_j ; h←_j] (B, Tx, 2n) of word ids (B, Tx) (A.2.1); they are zero at padding."""
        words = self.p["E_src"][x]
        positions = range(x.shape[1])
        forward = self.directed("fwd", words, mask, positions)
        reads = positions if self.has("backward-reads-forward") else reversed(positions)
        backward = self.directed("bwd", words, mask, reads)
        if self.has("backward-not-reversed-back"):
            lengths = mask.sum(1)
            backward = np.stack([_flipped(states, length) for states, length in zip(backward, lengths, strict=True)])
        if self.has("backward-reversed-with-padding"):
            backward = backward[:, ::-1]
        halves = [backward, forward] if self.has("halves-exchanged") else [forward, backward]
        return np.concatenate(halves, -1)

    def directed(self, suffix: str, words: Array, mask: Array, positions: Iterable[int]) -> Array:
        """Return the states (B, Tx, n) of the encoder's RNN with this suffix, which reads embeddings (B, Tx, m) in order."""
        state: Array = np.zeros((len(words), self.p[f"U_{suffix}"].shape[0]))
        states: dict[int, Array] = {}
        for j in positions:
            new = self._unit(suffix, state, words[:, j])
            # The state is zero at padding, and so is the one from which the backward RNN begins.
            at_padding = state if self.has(KEEPS_STATE) else np.zeros_like(state)
            state = new if self.has("encoder-reads-padding") else np.where(mask[:, j, None], new, at_padding)
            states[j] = state
        return np.stack([states[j] for j in sorted(states)], 1)

    def initial_state(self, h: Array, mask: Array) -> Array:
        """Return s_0 = tanh(W_s h←_1 + b_s) (B, n) (A.2.2)."""
        n = h.shape[-1] // 2
        last = (np.arange(len(h)), mask.sum(1) - 1)
        if self.has("initial-state-zero"):
            return np.zeros_like(h[:, 0, :n])
        read = h[:, 0, n:]
        if self.has("initial-state-forward"):
            read = h[last][:, :n]
        if self.has("initial-state-last-backward"):
            read = h[last][:, n:]
        if self.has("initial-state-mean"):
            read = (h[..., n:] * mask[..., None]).sum(1) / mask.sum(1)[:, None]
        return self.state_of(read)

    def state_of(self, summary: Array) -> Array:
        """Return tanh(W_s summary + b_s) (B, n)."""
        total = summary @ (self.p["W_s"] if self.has("initial-state-transposed") else self.p["W_s"].T)
        if not self.has("no-initial-bias"):
            total = total + self.p["b_s"]
        if self.has("initial-state-linear"):
            return total
        return _relu(total) if self.has("initial-state-relu") else np.tanh(total)

    def energies(self, s: Array, h: Array) -> Array:
        """Return e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j) (B, Tx) (A.1.2)."""
        return self.energies_of_keys(s, self.keys(h))

    def keys(self, h: Array) -> Array:
        """Return U_a h_j (B, Tx, n'), which is the same at each step (A.2.2)."""
        keys: Array = h @ self.p["U_a"].T
        return keys + self.p["b_a"] if self.has("energy-bias") else keys

    def energies_of_keys(self, s: Array, keys: Array) -> Array:
        """Return the energies (B, Tx) from the keys U_a h_j (B, Tx, n') that `keys` has returned."""
        query = (s @ self.p["W_a"].T)[:, None]
        if self.has("energy-dot-product"):
            return (query * keys).sum(-1)
        if self.has("energy-scaled-dot-product"):
            return (query * keys).sum(-1) / np.sqrt(keys.shape[-1])
        hidden = query + keys
        if self.has("energy-relu"):
            hidden = _relu(hidden)
        elif not (self.has("energy-linear") or self.has("energy-tanh-last")):
            hidden = np.tanh(hidden)
        e: Array = hidden.sum(-1) if self.has("energy-without-v_a") else hidden @ self.p["v_a"]
        return np.tanh(e) if self.has("energy-tanh-last") else e

    def weights(self, e: Array, mask: Array) -> Array:
        """Return α_ij = exp(e_ij) / Σ_k exp(e_ik) (B, Tx), over the words of the sentence (section 3.1)."""
        axis = 0 if self.has("softmax-wrong-axis") else 1
        if self.has("padding-not-masked"):
            return _softmax(e, axis)
        if self.has("mask-after-softmax"):
            return _softmax(e, axis) * mask
        if self.has("padding-energy-zero"):
            return _softmax(np.where(mask, e, 0), axis)
        kept = ~mask if self.has("mask-inverted") else mask
        return _softmax(np.where(kept, e, np.finfo(e.dtype).min), axis)

    def context(self, alpha: Array, h: Array) -> Array:
        """Return c_i = Σ_j α_ij h_j (B, 2n) (section 3.1)."""
        if self.has("context-mean"):
            return h.mean(1) + 0 * alpha[:, :1]
        if self.has("context-best"):
            return h[np.arange(len(h)), alpha.real.argmax(1)]
        return (alpha[..., None] * h).sum(1)

    def readout(self, s: Array, previous: Array, c: Array) -> Array:
        """Return t_i (B, l), the maximum of neighbours in t~_i = U_o s_{i−1} + V_o E y_{i−1} + C_o c_i + b_o (A.2.2)."""
        return self.maxout(self.before_maxout(s, previous, c))

    def before_maxout(self, s: Array, previous: Array, c: Array) -> Array:
        """Return t~_i (B, 2l)."""
        total = s @ self.p["U_o"].T + previous @ self.p["V_o"].T + c @ self.p["C_o"].T
        return total if self.has("no-readout-bias") else total + self.p["b_o"]

    def maxout(self, total: Array) -> Array:
        """Return the maximum (B, l) of units 2j − 1 and 2j of t~_i."""
        half = total.shape[-1] // 2
        if self.has("no-maxout"):
            return total
        if self.has("maxout-left-out"):
            return total[..., :half]
        if self.has("maxout-halves"):
            return _maximum(total[..., :half], total[..., half:])
        if self.has("mean-of-neighbours"):
            return (total[..., ::2] + total[..., 1::2]) / 2
        return _maximum(total[..., ::2], total[..., 1::2])

    def distribution(self, t: Array) -> Array:
        """Return p(y_i | s_{i−1}, y_{i−1}, c_i) (B, Ky), the softmax of W_o t_i + b_w (A.2.2)."""
        total = t @ self.p["W_o"].T
        if not self.has("no-softmax-bias"):
            total = total + self.p["b_w"]
        if self.has("distribution-scores"):
            return total
        p = _softmax(total, 0 if self.has("distribution-wrong-axis") else 1)
        return np.log(p) if self.has("distribution-in-logarithms") else p

    def decoder_step(self, s: Array, c: Array, previous: Array, word: Array, h: Array, mask: Array) -> tuple[Array, Array]:
        """Return p(y_i | …) (B, Ky) and s_i (B, n), from s_{i−1}, c_{i−1}, E y_{i−1}, E y_i, and the annotations (A.2.2)."""
        p, state, _, _ = self.step(s, c, previous, word, h, mask)
        return p, state

    def step(
        self, s: Array, c: Array, previous: Array, word: Array, h: Array, mask: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return p(y_i | …), s_i, c_i and α_i: attend with s_{i−1}, predict from s_{i−1}, then update."""
        if self.has("attends-with-new-state"):
            state = self.gated_unit(s, previous, c)
            alpha = self.weights(self.energies(state, h), mask)
            c = self.context(alpha, h)
            return self._predict(state, previous, word, c), state, c, alpha
        alpha = self.weights(self.energies(s, h), mask)
        new = self.context(alpha, h)
        used = c if self.has("context-of-previous-step") else new
        if self.has("updates-before-predicting"):
            state = self.gated_unit(s, previous, used)
            return self._predict(state, previous, word, used), state, new, alpha
        p = self._predict(s, previous, word, used)
        read = previous if self.has("updates-with-previous-word") else word
        return p, self.gated_unit(s, read, used), new, alpha

    def _predict(self, s: Array, previous: Array, word: Array, c: Array) -> Array:
        return self.distribution(self.readout(s, word if self.has("predicts-from-own-word") else previous, c))

    def decode(self, h: Array, mask: Array, y: Array) -> tuple[Array, Array, Array]:
        """Return the distributions (B, Ty, Ky), the states s_0 … s_Ty (B, Ty + 1, n), and α (B, Ty, Tx) for words y."""
        words = self.p["E_tgt"][y]
        previous = self.p["E_tgt"][np.zeros_like(y[:, 0])] if self.has("first-word-embedded") else 0 * words[:, 0]
        states, c = [self.initial_state(h, mask)], 0 * h[:, 0]
        distributions, alphas = [], []
        for i in range(y.shape[1]):
            word = words[:, i]
            if self.has("no-teacher-forcing"):
                word = self.p["E_tgt"][self.step(states[-1], c, previous, word, h, mask)[0].real.argmax(1)]
            p, s, c, alpha = self.step(states[-1], c, previous, word, h, mask)
            previous = word
            states.append(s)
            distributions.append(p)
            alphas.append(alpha)
        return np.stack(distributions, 1), np.stack(states, 1), np.stack(alphas, 1)

    def log_probability(self, x: Array, mask: Array, y: Array, y_mask: Array) -> Array:
        """Return log p(y | x) = Σ_i log p(y_i | …) (B) of each sentence, its end symbol included (section 2)."""
        p, _, _ = self.decode(self.encoder(x, mask), mask, y)
        of_words = np.log(np.take_along_axis(p, y[..., None], -1)[..., 0])
        if self.has("end-not-scored"):
            y_mask = y_mask & (np.arange(y.shape[1]) < y_mask.sum(1)[:, None] - 1)
        return of_words.sum(1) if self.has("target-padding-scored") else (of_words * y_mask).sum(1)

    def loss(self, x: Array, mask: Array, y: Array, y_mask: Array) -> Array:
        """Return −log p(y | x), summed over words and averaged over sentences."""
        total = self.log_probability(x, mask, y, y_mask).sum() * (1 if self.has("loss-sign") else -1)
        if self.has("loss-sum"):
            return total
        return total / (y_mask.sum() if self.has("loss-mean-of-words") else len(y))

    def clip(self, gradients: Mapping[str, Array], limit: float) -> dict[str, Array]:
        """Return the gradients, scaled to the norm `limit` if their common L2 norm is larger (B.2)."""
        if self.has("clip-by-value"):
            return {name: np.clip(g, -limit, limit) for name, g in gradients.items()}
        if self.has("clip-each-tensor"):
            return {name: g * min(1.0, limit / np.sqrt((g**2).sum())) for name, g in gradients.items()}
        norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
        return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}

    def derivatives(
        self, directions: Mapping[str, Array], x: Array, mask: Array, y: Array, y_mask: Array
    ) -> dict[str, float]:
        """Return d loss(X + ε · direction)/dε at 0 for each tensor X; zero for one that the loss does not read."""
        step = 1e-30
        slopes = {}
        for name, direction in directions.items():
            moved = Paper({**self.p, name: self.p[name] + 1j * step * direction}, self.deviations)
            slopes[name] = float(np.imag(moved.loss(x, mask, y, y_mask))) / step
        return slopes


def _sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def _relu(x: Array) -> Array:
    return np.where(x.real > 0, x, 0)


def _maximum(a: Array, b: Array) -> Array:
    return np.where(a.real >= b.real, a, b)


def _softmax(x: Array, axis: int) -> Array:
    exponential = np.exp(x - x.real.max(axis, keepdims=True))
    result: Array = exponential / exponential.sum(axis, keepdims=True)
    return result


def _flipped(states: Array, length: Any) -> Array:
    return np.concatenate([states[:length][::-1], states[length:]])
