"""The graphs compute what the PyTorch model computes, for every cell, alignment model, order and number of layers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from small_models import SOURCE_WORDS, TARGET_WORDS, combinations, every_model, random_model, random_words, weights_of

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.alignment_layer import alignment_layer
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.engine import Engine, Runnable
from rnnsearch.graphs.step import step
from rnnsearch.graphs.weights import Arrays
from rnnsearch.model import AlignmentLayer, RNNsearch

TOLERANCE = 1e-5
LENGTHS = [4, 9, 1, 6]

each_model = pytest.mark.parametrize("config", every_model())


def close(ours: NDArray[np.float32], expected: torch.Tensor, what: str = "") -> None:
    np.testing.assert_allclose(ours, expected.detach().numpy(), rtol=TOLERANCE, atol=TOLERANCE, err_msg=what)


@cache
def built(config: ModelConfig) -> tuple[RNNsearch, Engine]:
    model = random_model(config)
    return model, Engine(config, weights_of(model))


@each_model
def test_encoder(config: ModelConfig) -> None:
    model, engine = built(config)
    x, lengths = random_words(np.random.default_rng(3), LENGTHS, SOURCE_WORDS), np.array(LENGTHS)
    found = engine.encode(x, lengths)
    source = model.encode(torch.from_numpy(x), torch.from_numpy(lengths))
    inside = np.arange(found["annotations"].shape[1]) < lengths[:, None]
    close(found["annotations"][inside], source.annotations_BSC[source.mask_BS], "annotations")
    assert ("keys" in found) == (source.keys_BSA is not None)
    if source.keys_BSA is not None:
        close(found["keys"][inside], source.keys_BSA[source.mask_BS], "keys")
    close(found["state"][:, : config.hidden_size], model.decoder.first_state(source)[:, : config.hidden_size], "s_0")


@each_model
def test_steps_with_reordered_hypotheses(config: ModelConfig) -> None:
    """Any hypothesis of a sentence may be continued by several or none, and any sentence may be done."""
    (model, engine), random = built(config), np.random.default_rng(5)
    x, lengths = random_words(random, LENGTHS, SOURCE_WORDS), np.array(LENGTHS)
    source, ours_source = model.encode(torch.from_numpy(x), torch.from_numpy(lengths)), engine.encode(x, lengths)
    K, live = 3, np.arange(len(LENGTHS))
    hypotheses = model.start(source)
    parents, words, ours = np.repeat(live[:, None], K, 1), np.full((len(live), K), -1), ours_source
    hypotheses = hypotheses.select(torch.arange(len(live)), torch.zeros(len(live), K, dtype=torch.int64))
    for number in range(5):
        step_output = model.predict(hypotheses, source)
        ours = engine.step(ours_source, ours, parents, words, 4, ("best", "best_log_p", "log_p"))
        close(ours["log_p"][..., :TARGET_WORDS], step_output.log_p_BKV, f"log p of step {number}")
        best_log_p, best = step_output.log_p_BKV.topk(4)
        close(ours["best_log_p"], best_log_p, f"best log p of step {number}")
        np.testing.assert_array_equal(ours["best"], best.numpy())
        s_BKN = step_output.hypotheses.state_BKD[..., : config.hidden_size]
        close(ours["state"][:, : config.hidden_size], s_BKN.flatten(0, 1), f"states of step {number}")
        if model.generates_first:  # the next step reads C c_i
            context = model.decoder.cell.project_context(step_output.context_BKC).flatten(0, 1)
            D = step_output.hypotheses.state_BKD.shape[2] * config.decoder_layers
            close(ours["state"][:, D : D + context.shape[1]], context, f"contexts of step {number}")
        if step_output.alpha_BKS is not None:
            S = source.mask_BS.shape[1]
            close(ours["alpha"][..., :S], step_output.alpha_BKS, f"weights of step {number}")
            outside = np.arange(ours["alpha"].shape[2]) >= lengths[live, None, None]
            assert (ours["alpha"][np.broadcast_to(outside, ours["alpha"].shape)] == 0).all()
        keep = np.arange(len(live)) if number != 2 else np.array([0, 2])
        chosen = random.integers(0, K, (len(keep), K))
        next_words = random.integers(0, TARGET_WORDS, (len(keep), K))
        hypotheses = model.advance(step_output, *map(torch.from_numpy, (keep, chosen, next_words)))
        parents, words, live = keep[:, None] * K + chosen, next_words, live[keep]
        source = model.encode(torch.from_numpy(x[live]), torch.from_numpy(lengths[live]))
        ours_source = {key: array[keep] for key, array in ours_source.items() if key not in ("state", "alpha_before")}


@each_model
def test_forced_translations(config: ModelConfig) -> None:
    (model, engine), random = built(config), np.random.default_rng(7)
    target_lengths = [5, 3, 8, 1]
    x, lengths = random_words(random, LENGTHS, SOURCE_WORDS), np.array(LENGTHS)
    y, y_lengths = random_words(random, target_lengths, TARGET_WORDS), np.array(target_lengths)
    output = model(*map(torch.from_numpy, (x, lengths, y, y_lengths)))
    log_p_P = torch.log_softmax(output.logits_PV, -1).gather(1, output.words_P[:, None])[:, 0]
    forced = force(engine, model.generates_first, x, lengths, y)
    for b, length in enumerate(target_lengths):
        close(forced["log_p"][b, :length], log_p_P[output.sentences_P == b], "log p")
        if output.decoded.alpha_TBS is not None:
            close(forced["alpha"][b, :length, : x.shape[1]], output.decoded.alpha_TBS[:length, b], "weights")
        close(forced["states"][b, : length + 1, : config.hidden_size], output.decoded.states_TBN[: length + 1, b], "states")


def force(
    engine: Engine, generates_first: bool, x: NDArray[np.int64], lengths: NDArray[np.int64], y: NDArray[np.int64]
) -> Arrays:
    """log p of every word y_i (B, T), the weights α_i (B, T, S), and the states s_0 … s_Ty (B, T + 1, X)."""
    source = engine.encode(x, lengths)
    B, T = y.shape
    ours, words = source, np.full((B, 1), -1)
    states, alphas, log_p = [source["state"]], [], []
    for i in range(T + 1):  # in one order, the state s_Ty is that of a further step
        ours = engine.step(source, ours, np.arange(B)[:, None], words, 1, ("log_p",))
        states.append(ours["state"])
        if i == T:
            break
        log_p.append(ours["log_p"][np.arange(B), 0, y[:, i]])
        alphas.append(ours["alpha"][:, 0] if "alpha" in ours else np.zeros((B, 0)))
        words = y[:, i, None]
    states = states[1:] if generates_first else states[:-1]
    return {"log_p": np.stack(log_p, 1), "alpha": np.stack(alphas, 1), "states": np.stack(states, 1)}


@each_model
def test_greedy_translations(config: ModelConfig) -> None:
    model, engine = built(config)
    x, lengths = random_words(np.random.default_rng(11), LENGTHS, SOURCE_WORDS), np.array(LENGTHS)
    source, ours_source = model.encode(torch.from_numpy(x), torch.from_numpy(lengths)), engine.encode(x, lengths)
    rows = torch.arange(len(x))
    hypotheses, ours, words = model.start(source), ours_source, np.full((len(x), 1), -1)
    for _ in range(12):
        output = model.predict(hypotheses, source)
        chosen = output.log_p_BKV.argmax(2)
        ours = engine.step(ours_source, ours, np.arange(len(x))[:, None], words, 1)
        words = ours["best"][:, :, 0]
        np.testing.assert_array_equal(words, chosen.numpy())
        hypotheses = model.advance(output, rows, torch.zeros_like(chosen), chosen)


@each_model
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_files_are_of_the_format(config: ModelConfig, precision: str) -> None:
    weights = weights_of(random_model(config))
    for graph in (encoder(config, weights, precision), step(config, weights, precision)):
        onnx.checker.check_model(onnx.load_from_string(graph.file()), full_check=True)


@pytest.mark.parametrize("order", ["look-generate-update", "look-update-generate"])
@pytest.mark.parametrize("encoder_kind", ["bidirectional", "forward"])
def test_alignment_layer(order: str, encoder_kind: str) -> None:
    config = replace(next(combinations()), decoder_order=order, encoder=encoder_kind, tied_embedding=False)
    model, engine = built(config)
    layer = AlignmentLayer(model)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(0, 0.4, generator=generator)
    random, target_lengths = np.random.default_rng(13), [5, 3, 8, 2]
    x, lengths = random_words(random, LENGTHS, SOURCE_WORDS), np.array(LENGTHS)
    y, y_lengths = random_words(random, target_lengths, TARGET_WORDS), np.array(target_lengths)
    x[2, 1:], y[1, 3:] = 3, 4  # any ids may follow the end symbol
    arguments = [torch.from_numpy(array) for array in (x, lengths, y, y_lengths)]
    expected = torch.sigmoid(layer(model, model(*arguments), *arguments))
    forced = force(engine, model.generates_first, x, lengths, y)
    graph = alignment_layer(config, weights_of(model), weights_of(layer))
    onnx.checker.check_model(onnx.load_from_string(graph.file()), full_check=True)
    arrays = {"words": x, "lengths": lengths, "target_words": y, "target_lengths": y_lengths}
    arrays |= {"alpha": np.ascontiguousarray(forced["alpha"][..., : x.shape[1]])}
    arrays |= {"annotations": engine.encode(x, lengths)["annotations"][:, : x.shape[1]]}
    arrays |= {"states": np.ascontiguousarray(forced["states"][..., : config.hidden_size])}
    found = Runnable(graph)(arrays)["probabilities"]
    for b, (Tx, Ty) in enumerate(zip(LENGTHS, target_lengths, strict=True)):
        close(found[b, :Ty, :Tx], expected[b, :Ty, :Tx], f"links of sentence {b}")
