"""The fast backend finds what the plain one finds, in float32 too; int8 is near; a selection is what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.data.batches import make_batch
from rnnsearch.model import RNNsearch
from rnnsearch.ops import loops
from rnnsearch.ops.packed import int8_works
from rnnsearch.search import backend as backend_module
from rnnsearch.search import fast_layers
from rnnsearch.search.backend import Backend
from rnnsearch.search.beam import Hypothesis, beam_search
from rnnsearch.search.ensemble import EnsembleBackend
from rnnsearch.search.fast import FastBackend
from rnnsearch.search.plain import PlainBackend
from toy import ALIGNMENTS, CELLS, DEEPER, ORDERS, models_more, random_model

VX, VY = 30, 40
sentences_ = st.lists(st.lists(st.integers(1, VX - 1), max_size=9), min_size=1, max_size=6)
seeds = st.integers(0, 2**31)
needs_int8 = pytest.mark.skipif(not int8_works(), reason="no int8 products here")
every_model = pytest.mark.parametrize(
    ("cell", "alignment", "order"),
    [(cell, alignment, order) for cell in CELLS for alignment in ALIGNMENTS for order in ORDERS],
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
def test_fast_is_plain(
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
    same(search(FastBackend(model), sentences, **how), expected)


@settings(max_examples=5)
@given(sentences=sentences_, seed=seeds)
def test_without_kernels_it_is_the_same(sentences: list[list[int]], seed: int) -> None:
    backend = FastBackend(model_of("gated", "mlp", ORDERS[0], seed))
    compiled = search(backend, sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "AVAILABLE", False)
        same(search(backend, sentences), compiled)


@every_model
@settings(max_examples=3)
@given(sentences=sentences_, frequent=st.sampled_from((2, 10, VY)), forbid_unk=st.booleans(), seed=seeds)
def test_vocabulary_selection(
    cell: str, alignment: str, order: str, sentences: list[list[int]], frequent: int, forbid_unk: bool, seed: int
) -> None:
    model, selection = model_of(cell, alignment, order, seed), SomeWords(frequent)
    plain = search(PlainBackend(model, selection), sentences, forbid_unk=forbid_unk)
    same(search(FastBackend(model, selection=selection), sentences, forbid_unk=forbid_unk, batch_sentences=2), plain)
    for sentence, found in zip(sentences, plain, strict=True):
        allowed = {*range(frequent), *selection.candidates(sentence)}
        assert {word for hypothesis in found for word in hypothesis.words} <= allowed
    if frequent == VY:
        same(plain, search(PlainBackend(model), sentences, forbid_unk=forbid_unk))


@settings(max_examples=10)
@given(sentences=sentences_, seed=seeds)
def test_words_that_do_not_fit_are_computed_again(sentences: list[list[int]], seed: int) -> None:
    model = model_of("gated", "mlp", ORDERS[0], seed)
    expected = search(FastBackend(model), sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_layers, "KEPT_WORDS", 3)
        same(search(FastBackend(model), sentences), expected)


@settings(max_examples=10)
@given(sentences=sentences_, rows=st.integers(1, 7), selection=st.sampled_from((None, SomeWords(6))), seed=seeds)
def test_many_logits_are_made_in_parts(
    sentences: list[list[int]], rows: int, selection: SomeWords | None, seed: int
) -> None:
    one, two = (model_of("gated", "mlp", ORDERS[0], seed + i) for i in range(2))
    backends = [
        FastBackend(one, selection=selection),
        PlainBackend(one, selection),
        EnsembleBackend([FastBackend(one, selection=selection), FastBackend(two, selection=selection)]),
    ]
    expected = [search(backend, sentences) for backend in backends]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend_module, "LOGITS", rows * VY)
        for backend, whole in zip(backends, expected, strict=True):
            same(search(backend, sentences), whole)


@needs_int8
@every_model
@settings(max_examples=4)
@given(sentences=sentences_, frequent=st.sampled_from((0, 6)), seed=seeds, data=st.data())
def test_with_int8_sentences_do_not_see_each_other(
    cell: str, alignment: str, order: str, sentences: list[list[int]], frequent: int, seed: int, data: st.DataObject
) -> None:
    model = model_of(cell, alignment, order, seed, **(DEEPER if seed % 2 else {}))
    selection = SomeWords(frequent) if frequent else None
    backend = FastBackend(model, "int8", selection)
    together = search(backend, sentences, batch_sentences=data.draw(st.integers(1, 6)))
    for sentence, found in zip(sentences, together, strict=True):
        # To the last bit: whole numbers have no rounding that could depend on the company. With a selection, only the sum
        # over the words has: the sentence with the most candidates decides how many columns there are.
        same([found], search(backend, [sentence]), tolerance=1e-5 if frequent else 0.0)


@needs_int8
@every_model
@settings(max_examples=3)
@given(sentences=sentences_, seed=seeds)
def test_int8_is_near(cell: str, alignment: str, order: str, sentences: list[list[int]], seed: int) -> None:
    """For the first word; later ones depend on what was chosen before."""
    model = model_of(cell, alignment, order, seed)
    near, exact = (first_words(FastBackend(model, precision), sentences) for precision in ("int8", "fp32"))
    # These weights are random and large, and so is the spread of log p, several nats; a trained model's are kinder.
    assert np.abs(near - exact).max() < 0.6
    assert np.abs(near - exact).mean() < 0.2


@torch.inference_mode()
def first_words(backend: FastBackend, sentences: list[list[int]]) -> np.ndarray:
    """log p of every first word, (B, V)."""
    batch = make_batch([(sentence, []) for sentence in sentences])
    session = backend.session(len(sentences), batch.source_BS.shape[1])
    session.encode(torch.from_numpy(batch.source_BS), torch.from_numpy(batch.source_lengths_B))
    session.add(np.arange(len(sentences)), np.arange(len(sentences)))
    log_p, words = session.predict().best(VY, np.zeros((len(sentences), 2), np.bool_))
    by_word = np.empty_like(log_p)
    np.put_along_axis(by_word, words, log_p, 1)
    return by_word


@settings(max_examples=10)
@given(sentences=st.lists(st.lists(st.integers(1, VX - 1), max_size=9), min_size=4, max_size=9), seed=seeds)
@pytest.mark.parametrize("make", [PlainBackend, FastBackend])
def test_sentences_take_the_slots_of_those_that_are_done(make: object, sentences: list[list[int]], seed: int) -> None:
    assert callable(make)
    backend = make(model_of("gated", "mlp", ORDERS[0], seed, **(DEEPER if seed % 2 else {})))
    expected = [found for sentence in sentences for found in search(backend, [sentence])]
    for slots in (1, 2, 3):
        same(search(backend, sentences, batch_sentences=slots), expected)


def test_a_sentence_longer_than_all_slots_together() -> None:
    model = model_of("gated", "mlp", ORDERS[0], 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnnsearch.search.beam.POSITIONS", 8)
        found = search(FastBackend(model), [[2, 3] * 10, [4], [5, 6]])
    same(found, search(PlainBackend(model), [[2, 3] * 10, [4], [5, 6]]))


def test_nothing_to_do() -> None:
    assert search(FastBackend(model_of("gated", "mlp", ORDERS[0], 0)), []) == []


def test_the_model_stays_as_it_is() -> None:
    model = model_of("gated", "mlp", ORDERS[0], 0)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    search(FastBackend(model, "int8"), [[2, 3, 4]])
    for name, parameter in model.named_parameters():
        assert torch.equal(before[name], parameter)
        assert parameter.requires_grad
