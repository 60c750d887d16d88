"""What well-known implementations compute, written anew in NumPy, gets the diagnosis that the documentation states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rnnsearch

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]
GRU = frozenset({"gates-exchanged", "reset-after-product"})


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gated_unit(p: Weights, s: Array, word: Array, c: Array) -> Array:
    """The unit of `torch.nn.GRU` and `keras.layers.GRU`, whose z is what stays."""
    reset, kept = (sigmoid(word @ p[f"W{gate}_dec"].T + c @ p[f"C{gate}_dec"].T + s @ p[f"U{gate}_dec"].T) for gate in "rz")
    new = np.tanh(word @ p["W_dec"].T + c @ p["C_dec"].T + p["b_dec"] + reset * (s @ p["U_dec"].T))
    return (1 - kept) * new + kept * s


def with_bias(p: Weights, s: Array, h: Array) -> Array:
    pairs = np.concatenate([np.repeat(s[:, None], h.shape[1], 1), h], 2)
    return np.tanh(pairs @ np.concatenate([p["W_a"], p["U_a"]], 1).T + p["b_a"]) @ p["v_a"]


def additive(p: Weights, s: Array, h: Array) -> Array:
    return np.tanh((p["W_a"] @ s.T).T[:, None] + h @ p["U_a"].T) @ p["v_a"]


def linear(p: Weights, s: Array, h: Array) -> Array:
    return ((s @ p["W_a"].T)[:, None] + h @ p["U_a"].T + p["b_a"]) @ p["v_a"]


def of_the_state(p: Weights, s: Array, h: Array) -> Array:
    return np.resize(p["W_a"], (h.shape[1], s.shape[1])) @ s[..., None] @ np.ones(1)


def unmasked(e: Array, mask: Array) -> Array:
    return np.exp(e) / np.exp(e).sum(1, keepdims=True)


def masked(e: Array, mask: Array) -> Array:
    return unmasked(np.where(mask, e, -1e6), mask)


@pytest.mark.parametrize(
    ("energies", "weights", "diagnoses"),
    [
        pytest.param(of_the_state, unmasked, ([], [{"padding-not-masked"}]), id="PyTorch's tutorial"),
        pytest.param(additive, masked, None, id="Dive into Deep Learning"),
        pytest.param(with_bias, unmasked, ([{"energy-bias"}], [{"padding-not-masked"}]), id="pytorch-seq2seq, TensorFlow"),
        pytest.param(linear, unmasked, ([{"energy-bias", "energy-linear"}], [{"padding-not-masked"}]), id="keon/seq2seq"),
    ],
)
def test_diagnoses(energies: Any, weights: Any, diagnoses: tuple[list[Any], list[Any]] | None) -> None:
    def of_energies(p: Weights, s: Array, h: Array) -> Array:
        return energies(p, s, h)

    def of_weights(e: Array, mask: Array) -> Array:
        return weights(e, mask)

    of_energies.__name__, of_weights.__name__ = "energies", "weights"
    report = rnnsearch.check([gated_unit, of_energies, of_weights], seed=8)
    found = {finding.equation: finding for finding in report.findings}
    assert found["gated_unit"].deviations == [GRU]
    if diagnoses is None:
        assert found["energies"].outcome == found["weights"].outcome == "agrees"
    else:
        assert found["energies"].outcome == found["weights"].outcome == "differs"
        assert (found["energies"].deviations, found["weights"].deviations) == diagnoses
