"""In ONNX Runtime, a sentence has the same bits alone and in any batch; int8 is what it says, without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
from small_models import SOURCE_WORDS, TARGET_WORDS, combinations, name, random_model, random_words, weights_of

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.engine import Engine, Runnable, signed_products_are_exact
from rnnsearch.graphs.network import Affine, Network
from rnnsearch.graphs.weights import Arrays, Weights


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize("config", list(islice(combinations(), 0, None, 4)), ids=name)
def test_a_sentence_has_the_same_bits_alone_and_in_a_batch(config: ModelConfig, precision: str) -> None:
    engine = Engine(config, weights_of(random_model(config)), precision)
    random, lengths = np.random.default_rng(1), np.array([7, 95, 1, 30, 64, 130, 3])
    x = random_words(random, lengths.tolist(), SOURCE_WORDS)
    for K in (1, 3):
        y = random.integers(0, TARGET_WORDS, (len(lengths), 4, K))
        parents = random.integers(0, K, y.shape)
        together = read(engine, x, lengths, y, parents)
        for row in range(len(lengths)):
            one = slice(row, row + 1)
            alone = read(engine, x[one, : lengths[row]], lengths[one], y[one], parents[one])
            for key, array in alone.items():
                size = (slice(None),) * (array.ndim - 2)
                width = lengths[row] if key.startswith("alpha") else array.shape[-1]
                np.testing.assert_array_equal(array[0][size][..., :width], together[key][row][size][..., :width], key)


def read(engine: Engine, x: np.ndarray, lengths: np.ndarray, y: np.ndarray, parents: np.ndarray) -> Arrays:
    """What the steps return while they read given words of K hypotheses, by sentences."""
    source = engine.encode(x, lengths)
    (Q, T, K), found = y.shape, {"first": source["state"]}
    ours, rows, words = source, np.repeat(np.arange(Q)[:, None], K, 1), np.full((Q, K), -1)
    for i in range(T):
        ours = engine.step(source, ours, rows, words, 3, ("best", "best_log_p", "log_p"))
        found |= {f"{key}{i}": ours[key] for key in ("best", "best_log_p", "log_p", "alpha") if key in ours}
        found[f"state{i}"] = ours["state"].reshape(Q, K, -1)
        rows, words = np.arange(Q)[:, None] * K + parents[:, i], y[:, i]
    return found


def test_integers_are_those_of_a_model_file() -> None:
    matrix = np.random.default_rng(1).normal(size=(9, 6)).astype(np.float32)
    matrix[3] = 0
    whole, scales = Weights({"W": matrix}).quantized("W")
    assert np.abs(whole).max(1).tolist() == [127 if row != 3 else 0 for row in range(9)]
    assert (np.abs(whole * scales[:, None] - matrix) <= scales[:, None] / 2).all()
    stored, stored_scales = Weights({"W": whole, "W.scale": scales}).quantized("W")
    assert stored is whole
    np.testing.assert_array_equal(stored_scales, scales)


@pytest.mark.parametrize("signed", [False, True])
def test_an_int8_product_is_exact_between_its_rounded_factors(signed: bool) -> None:
    """At the largest magnitudes too, where an instruction that saturates would be found out."""
    if signed and not signed_products_are_exact():
        pytest.skip("signed products saturate on this CPU, and are not used on it")
    random = np.random.default_rng(1)
    W, x = random.normal(size=(40, 64)).astype(np.float32), random.normal(size=(5, 64)).astype(np.float32)
    W[0], W[1], x[0], x[1] = 1, -1, 1, 0
    b = random.normal(size=40).astype(np.float32)
    net = Network("product", ModelConfig(), Weights({"W": W, "b": b}), "int8", signed)
    given = net.graph.input("x", "float32", "rows", 64)
    net.graph.output("y", net.affine(given, Affine("W", "b")), "float32", "rows", 40)
    found = Runnable(net.graph)({"x": x})["y"]
    whole, scales = net.weights.quantized("W")
    x_scales = np.maximum(np.abs(x).max(1, keepdims=True), np.finfo(np.float32).tiny) / np.float32(127)
    product = np.round(x / x_scales).astype(np.int64) @ whole.T.astype(np.int64)
    np.testing.assert_allclose(found, product * x_scales.astype(np.float64) * scales + b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("config", list(islice(combinations(), 1, None, 8)), ids=name)
def test_int8_is_close_to_float32(config: ModelConfig) -> None:
    weights = weights_of(random_model(config, scale=0.2))
    lengths = np.array([5, 9])
    x = random_words(np.random.default_rng(3), lengths.tolist(), SOURCE_WORDS)
    y, parents = np.random.default_rng(4).integers(0, TARGET_WORDS, (2, 5, 1)), np.zeros((2, 5, 1), np.int64)
    exact, rounded = (read(Engine(config, weights, kind), x, lengths, y, parents)["log_p4"] for kind in ("fp32", "int8"))
    assert 0 < np.abs(exact - rounded).max() < 0.05


def test_nothing_slow_is_imported() -> None:
    code = (
        "import sys, rnnsearch.graphs.engine, rnnsearch.graphs.export, rnnsearch.graphs.alignment_layer, onnxruntime\n"
        "print(sorted({'torch', 'numba', 'pyarrow', 'matplotlib', 'onnx', 'sacremoses'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
