"""ONNX Runtime finds what the plain backend finds; int8 is near; a selection is what it says; sentences are independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from products import every_pair
from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.data.batches import make_batch
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import GROUP
from rnnsearch.model import RNNsearch
from rnnsearch.search import Hypothesis
from rnnsearch.search.backend import Backend
from rnnsearch.search.plain import PlainBackend
from toy import CELLS, DEEPER, ORDERS, beam_search, models_more, onnx_backend, random_model

VX, VY = 30, 40
sentences_ = st.lists(st.lists(st.integers(1, VX - 1), max_size=9), min_size=1, max_size=6)
ALIGNMENTS = ("mlp", "none", "dot", "bilinear", "location", "monotonic")
seeds = st.integers(0, 2**31)
every_model = pytest.mark.parametrize(
    ("cell", "alignment", "order"),
    every_pair(CELLS, ALIGNMENTS, ORDERS),
)


class SomeWords:
    """Every source word has a few candidates; the first `frequent` target words are always open."""

    def __init__(self, frequent: int, each: int = 3) -> None:
        self.frequent = frequent
        self._each = each

    def candidates(self, source: Sequence[int]) -> list[int]:
        of_words = {(7 * word + 5 * k) % VY for word in source for k in range(self._each)}
        return sorted(word for word in of_words if word >= self.frequent)


def model_of(cell: str, alignment: str, order: str, seed: int, scale: float = 0.3, **more: Any) -> RNNsearch:
    config = ModelConfig(
        embedding_size=9,
        hidden_size=20,
        alignment_size=11,
        maxout_size=13,
        cell=cell,
        alignment=alignment,
        decoder_order=order,
        **more,
    )
    return random_model(config, VX, VY, seed, scale).float().eval()


def search(backend: Backend, sentences: list[list[int]], **values: object) -> list[list[Hypothesis]]:
    config = SearchConfig(**{"beam": 4, "maximum_length_ratio": 1.5, **values})  # type: ignore[arg-type]
    return beam_search(backend, sentences, config)


def same(found: list[list[Hypothesis]], expected: list[list[Hypothesis]], tolerance: float = 1e-4) -> None:
    for of_sentence, wanted in zip(found, expected, strict=True):
        assert [h.words for h in of_sentence] == [h.words for h in wanted]
        assert [h.finished for h in of_sentence] == [h.finished for h in wanted]
        np.testing.assert_allclose([h.score for h in of_sentence], [h.score for h in wanted], rtol=0, atol=tolerance)
        for one, other in zip(of_sentence, wanted, strict=True):
            assert (one.alignment is None) == (other.alignment is None)
            if one.alignment is not None:
                np.testing.assert_allclose(one.alignment, other.alignment, rtol=0, atol=tolerance)


@every_model
@settings(max_examples=4)
@given(
    sentences=sentences_,
    beam=st.integers(1, 6),
    forbid_unk=st.booleans(),
    minimum=st.sampled_from((0.0, 0.5)),
    batch_sentences=st.integers(1, 4),
    more=models_more,
    seed=seeds,
)
def test_it_finds_what_the_plain_backend_finds(
    cell: str,
    alignment: str,
    order: str,
    sentences: list[list[int]],
    beam: int,
    forbid_unk: bool,
    minimum: float,
    batch_sentences: int,
    more: dict[str, Any],
    seed: int,
) -> None:
    model = model_of(cell, alignment, order, seed, **more)
    how = {"beam": beam, "forbid_unk": forbid_unk, "minimum_length_ratio": minimum, "batch_sentences": batch_sentences}
    expected = search(PlainBackend(model), sentences, **how)
    same(search(onnx_backend(model), sentences, **how), expected)


@every_model
@settings(max_examples=3)
@given(sentences=sentences_, frequent=st.sampled_from((2, 10, VY)), forbid_unk=st.booleans(), seed=seeds)
def test_vocabulary_selection(
    cell: str, alignment: str, order: str, sentences: list[list[int]], frequent: int, forbid_unk: bool, seed: int
) -> None:
    model, selection = model_of(cell, alignment, order, seed), SomeWords(frequent)
    plain = search(PlainBackend(model, selection), sentences, forbid_unk=forbid_unk)
    same(search(onnx_backend(model, selection=selection), sentences, forbid_unk=forbid_unk, batch_sentences=2), plain)
    for sentence, found in zip(sentences, plain, strict=True):
        allowed = {*range(frequent), *selection.candidates(sentence)}
        assert {word for hypothesis in found for word in hypothesis.words} <= allowed
    if frequent == VY:
        same(plain, search(PlainBackend(model), sentences, forbid_unk=forbid_unk))


@every_model
@settings(max_examples=4)
@given(sentences=sentences_, frequent=st.sampled_from((0, 6)), seed=seeds, data=st.data())
def test_with_int8_sentences_do_not_see_each_other(
    cell: str, alignment: str, order: str, sentences: list[list[int]], frequent: int, seed: int, data: st.DataObject
) -> None:
    model = model_of(cell, alignment, order, seed, **(DEEPER if seed % 2 else {}))
    selection = SomeWords(frequent) if frequent else None
    backend = onnx_backend(model, "int8", selection)
    together = search(backend, sentences, batch_sentences=data.draw(st.integers(1, 6)))
    for sentence, found in zip(sentences, together, strict=True):
        # To the last bit: whole numbers have no rounding that could depend on the company. With a selection, only the sum
        # over the words has: the sentence with the most candidates decides how many columns there are.
        same([found], search(backend, [sentence]), tolerance=1e-5 if frequent else 0.0)


@every_model
@settings(max_examples=3)
@given(sentences=sentences_, seed=seeds)
def test_int8_is_near(cell: str, alignment: str, order: str, sentences: list[list[int]], seed: int) -> None:
    """For the first word; later ones depend on what was chosen before."""
    model = model_of(cell, alignment, order, seed)
    near, exact = (first_words(onnx_backend(model, precision), sentences) for precision in ("int8", "fp32"))
    # These weights are random and large, and so is the spread of log p, several nats; a trained model's are kinder.
    assert np.abs(near - exact).max() < 0.6
    assert np.abs(near - exact).mean() < 0.2


def first_words(backend: Backend, sentences: list[list[int]]) -> np.ndarray:
    """log p of every first word, (B, V)."""
    batch = make_batch([(sentence, []) for sentence in sentences])
    session = backend.session()
    session.encode(batch.source_BS, batch.source_lengths_B)
    session.add(np.arange(len(sentences)))
    log_p_RV = session.predict(1, whole=True).log_p_RV
    assert log_p_RV is not None
    return log_p_RV


@settings(max_examples=10)
@given(sentences=st.lists(st.lists(st.integers(1, VX - 1), max_size=9), min_size=4, max_size=9), seed=seeds)
@pytest.mark.parametrize("make", [PlainBackend, onnx_backend])
def test_sentences_take_the_slots_of_those_that_are_done(make: object, sentences: list[list[int]], seed: int) -> None:
    assert callable(make)
    backend = make(model_of("gated", "mlp", ORDERS[0], seed, **(DEEPER if seed % 2 else {})))
    expected = [found for sentence in sentences for found in search(backend, [sentence])]
    for slots in (1, 2, 3):
        same(search(backend, sentences, batch_sentences=slots), expected)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_a_sentence_has_the_same_bits_beside_any_others(alignment: str, precision: Precision) -> None:
    """Scores and alignments, with beams that become narrower and slots that are taken again."""
    backend = onnx_backend(model_of("gated", alignment, ORDERS[0], 5), precision)
    random = np.random.default_rng(1)
    sentences = [random.integers(1, VX, length).tolist() for length in (1, 30, 4, 9, 17, 2, 60, 5)]
    alone = [found for sentence in sentences for found in search(backend, [sentence], beam=3)]
    for slots in (2, 3, 8):
        same(search(backend, sentences, beam=3, batch_sentences=slots), alone, tolerance=0.0)


def test_what_has_no_room_waits() -> None:
    model = model_of("gated", "mlp", ORDERS[0], 0)
    sentences = [[2, 3] * 10, [4], [5, 6]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnnsearch.search.onnx.FEW_ROWS", 4)
        patch.setattr("rnnsearch.search.onnx.NUMBERS", 0)
        found = search(onnx_backend(model), sentences)
    same(found, search(PlainBackend(model), sentences))


def test_many_words_are_sought_in_groups() -> None:
    """With so many words, and with ties among them."""
    config = ModelConfig(embedding_size=5, hidden_size=6, alignment_size=4, maxout_size=3)
    model = random_model(config, VX, 64 * GROUP + 5, 1, 0.5).float().eval()
    for beam in (1, 7, 70):
        same(search(onnx_backend(model), [[2, 3, 4]], beam=beam), search(PlainBackend(model), [[2, 3, 4]], beam=beam))


@pytest.mark.parametrize("many", [2, 3])
def test_threads_find_the_same(many: int) -> None:
    backend = onnx_backend(model_of("gated", "mlp", ORDERS[0], 3))
    random = np.random.default_rng(2)
    sentences = [random.integers(1, VX, random.integers(1, 12)).tolist() for _ in range(40)]
    found = []
    for threads in (1, many):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OMP_NUM_THREADS", str(threads))
            found.append(search(backend, sentences))
    same(found[1], found[0], tolerance=0.0)


def test_nothing_to_do() -> None:
    assert search(onnx_backend(model_of("gated", "mlp", ORDERS[0], 0)), []) == []
