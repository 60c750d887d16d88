"""Terms: they are in every translation, which is otherwise as fluent as the beam allows, and no other sentence notices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.model import RNNsearch
from rnnsearch.search import Hypothesis, Query, Search, search_all
from rnnsearch.search.backend import Backend, Prediction
from rnnsearch.search.ensemble import EnsembleBackend
from rnnsearch.search.plain import PlainBackend
from rnnsearch.search.terms import Progress, Term, Terms
from rnnsearch.text.vocabulary import END, UNK
from toy import ALIGNMENTS, ORDERS, batch_of, beam_search, onnx_backend, random_model

VX, WORDS = 6, 8
CONTINUING = {6, 7}
"""Ids that continue the word before, where there are some."""
SIZES = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 3}
CONFIG = SearchConfig(beam=3, maximum_length_ratio=2.0)
seeds = st.integers(0, 2**31)


class Asked(NamedTuple):
    """A sentence, its prefix, and its terms: words, start and length in the sentence."""

    source: list[int]
    prefix: list[int]
    terms: list[tuple[list[int], int, int]]
    subwords: bool
    beam: int

    def query(self) -> Query:
        terms = [Term(words, start, start + length) for words, start, length in self.terms]
        steering = Terms(terms, CONTINUING.__contains__ if self.subwords else lambda word: False) if terms else None
        return Query(self.source, self.beam, self.prefix, steering)


@st.composite
def sentences(draw: st.DrawFn, most_terms: int = 3) -> Asked:
    source = draw(st.lists(st.integers(1, VX - 1), min_size=1, max_size=5))
    subwords = draw(st.booleans())
    words = st.tuples(st.integers(1, 5), st.lists(st.integers(1, WORDS - 1), max_size=2)).map(lambda t: [t[0], *t[1]])
    terms = []
    for _ in range(draw(st.integers(0, most_terms))):
        start = draw(st.integers(0, len(source) - 1))
        terms.append((draw(words), start, draw(st.integers(1, len(source) - start))))
    prefix = draw(st.lists(st.integers(1, WORDS - 1), max_size=4))
    return Asked(source, prefix, terms, subwords, draw(st.integers(1, 6)))


def model_of(seed: int, alignment: str = "mlp", order: str = ORDERS[0]) -> RNNsearch:
    config = ModelConfig(**SIZES, alignment=alignment, decoder_order=order)
    return random_model(config, VX, WORDS, seed, 0.8).eval()


def log_p(model: RNNsearch, source: list[int], words: list[int], finished: bool) -> float:
    written = [*words, END] if finished else words
    with torch.no_grad():
        logits_PV = model(*batch_of([(source, written)])).logits_PV[: len(written)]
    return float(torch.log_softmax(logits_PV, 1)[torch.arange(len(written)), torch.tensor(written, dtype=torch.long)].sum())


def same(found: list[Hypothesis], expected: list[Hypothesis], tolerance: float = 1e-6) -> None:
    assert [(h.words, h.finished, h.terms) for h in found] == [(h.words, h.finished, h.terms) for h in expected]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in expected], rtol=0, atol=tolerance)


def holds(hypothesis: Hypothesis, asked: Asked) -> None:
    """Every term is there, at a place of its own, and ends where a word ends."""
    assert sorted(number for number, _ in hypothesis.terms) == list(range(len(asked.terms)))
    taken: set[int] = set()
    for number, place in hypothesis.terms:
        words = asked.terms[number][0]
        places = set(range(place, place + len(words)))
        assert hypothesis.words[place : place + len(words)] == words
        assert not taken & places
        taken |= places
        after = hypothesis.words[place + len(words) : place + len(words) + 1]
        assert not (asked.subwords and after and after[0] in CONTINUING)


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("order", ORDERS)
@settings(deadline=None, max_examples=12)
@given(
    many=st.lists(sentences(), min_size=1, max_size=4),
    forbid_unk=st.booleans(),
    minimum=st.sampled_from((0.0, 1.0)),
    ratio=st.sampled_from((0.3, 2.0)),
    diversity=st.sampled_from((0.0, 0.5)),
    coverage=st.sampled_from((0.0, 0.3)),
    slots=st.integers(1, 4),
    seed=seeds,
)
def test_every_translation_has_its_terms(
    alignment: str,
    order: str,
    many: list[Asked],
    forbid_unk: bool,
    minimum: float,
    ratio: float,
    diversity: float,
    coverage: float,
    slots: int,
    seed: int,
) -> None:
    """Those that are cut off too; and both backends find the same."""
    model = model_of(seed, alignment, order)
    config = SearchConfig(
        forbid_unk=forbid_unk,
        minimum_length_ratio=minimum,
        maximum_length_ratio=ratio,
        diversity=diversity,
        coverage=coverage if alignment == "mlp" else 0.0,
        batch_sentences=slots,
    )
    queries, by_onnx = ([asked.query() for asked in many] for _ in range(2))
    search_all(PlainBackend(model), queries, config)
    search_all(onnx_backend(model), by_onnx, config)
    for asked, query, other in zip(many, queries, by_onnx, strict=True):
        same(other.hypotheses, query.hypotheses, 1e-5)  # the graphs are in float32
        assert 1 <= len(query.hypotheses) <= asked.beam
        assert len({tuple(found.words) for found in query.hypotheses}) == len(query.hypotheses)
        longest = max(1, int(ratio * (len(asked.source) + 1))) + len(asked.prefix)
        longest += sum(len(words) for words, _, _ in asked.terms)
        for found in query.hypotheses:
            holds(found, asked)
            assert found.words[: len(asked.prefix)] == asked.prefix
            assert len(found.words) + found.finished <= longest
            assert found.score == pytest.approx(log_p(model, asked.source, found.words, found.finished), abs=1e-6)


@settings(deadline=None, max_examples=8)
@given(many=st.lists(sentences(), min_size=1, max_size=3), seed=seeds)
def test_an_ensemble_has_them_too(many: list[Asked], seed: int) -> None:
    models = [model_of(seed), model_of(seed + 1), model_of(seed + 2, "none")]
    kinds: list[Callable[[RNNsearch], Backend]] = [PlainBackend, onnx_backend]
    found = []
    for kind in kinds:
        queries = [asked.query() for asked in many]
        search_all(EnsembleBackend([kind(model) for model in models]), queries, CONFIG)
        found.append([query.hypotheses for query in queries])
        for asked, query in zip(many, queries, strict=True):
            for hypothesis in query.hypotheses:
                holds(hypothesis, asked)
    for plain, other in zip(*found, strict=True):
        same(other, plain, 1e-5)


@pytest.mark.parametrize("kind", [onnx_backend, PlainBackend])
@settings(deadline=None, max_examples=15)
@given(many=st.lists(st.tuples(sentences(), st.integers(0, 6)), min_size=1, max_size=6), slots=st.integers(1, 3), seed=seeds)
def test_no_sentence_notices_another(
    kind: Callable[[RNNsearch], Backend], many: list[tuple[Asked, int]], slots: int, seed: int
) -> None:
    """Whoever joins the search and when; without terms, the translations are those of `beam_search`."""
    backend: Backend = kind(model_of(seed))
    queries = [(asked.query(), arrives) for asked, arrives in many]
    search = Search(backend, replace(CONFIG, batch_sentences=slots))
    for step in range(1000):  # With one slot, the sentences are translated one after the other.
        search.add(query for query, arrives in queries if arrives == step)
        if search.busy:
            search.step()
    assert not search.busy
    for (asked, _), (query, _) in zip(many, queries, strict=True):
        if asked.terms:
            alone = asked.query()
            search_all(backend, [alone], CONFIG)
            same(query.hypotheses, alone.hypotheses)
        else:
            (expected,) = beam_search(backend, [asked.source], replace(CONFIG, beam=asked.beam), [asked.prefix])
            same(query.hypotheses, expected)


@given(rows=st.integers(1, 6), pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=8), seed=seeds)
def test_given_words_have_their_probability(rows: int, pairs: list[tuple[int, int]], seed: int) -> None:
    log_p_RV = torch.log_softmax(torch.randn(rows, 9, generator=torch.Generator().manual_seed(seed)), 1).numpy()
    rows_G, words_G = np.array([(row % rows, word) for row, word in pairs], np.int64).reshape(-1, 2).T.copy()
    prediction = Prediction(np.zeros((rows, 1), np.int64), np.zeros((rows, 1)), None, log_p_RV)
    expected = [float(log_p_RV[row % rows, word]) for row, word in pairs]
    assert prediction.log_p_of(rows_G, words_G).tolist() == expected


# How far a hypothesis has got ----------------------------------------------------------------------------------------


def placed(terms: Terms, words: list[int], begins: tuple[int, ...] = ()) -> tuple[tuple[int, int], ...]:
    progress: Progress = terms.start
    for word in words:
        progress = terms.after(progress, word, begins, (0.0,) * len(terms.terms))
    return terms.placed(progress)


def test_the_longer_of_two_terms_is_meant_where_both_begin() -> None:
    terms = Terms([Term([2], 0, 1), Term([2, 3], 1, 2)])
    assert placed(terms, [2, 3, 2]) == ((1, 0), (0, 2))
    assert placed(terms, [2, 4, 2, 3]) == ((0, 0), (1, 2))


def test_each_of_two_equal_terms_has_a_place() -> None:
    terms = Terms([Term([2, 2], 0, 1), Term([2, 2], 1, 2)])
    assert placed(terms, [2, 2]) == ((0, 0),)
    assert placed(terms, [2, 2, 2]) == ((0, 0),)
    assert placed(terms, [2, 2, 2, 2]) == ((0, 0), (1, 2))


def test_a_term_ends_where_a_word_ends() -> None:
    terms = Terms([Term([2, 6], 0, 1)], CONTINUING.__contains__)
    assert placed(terms, [2, 6]) == ((0, 0),)
    assert placed(terms, [2, 6, 7]) == ()
    assert placed(terms, [2, 6, 3]) == ((0, 0),)


def test_an_unknown_word_is_the_term_only_where_the_term_may_begin() -> None:
    terms = Terms([Term([UNK], 0, 1)])
    assert placed(terms, [UNK]) == ()
    assert placed(terms, [UNK], (0,)) == ((0, 0),)
    assert terms.after_prefix([UNK]).missing == 1


def test_a_term_begins_where_the_attention_is_or_where_it_must() -> None:
    terms = Terms([Term([5], 0, 1), Term([6, 7], 1, 3)])

    def next_words(best: list[int], alpha: list[float], left: int) -> list[int]:
        return [word for word, _ in terms.extensions(terms.start, best, np.array(alpha, np.float32), left)]

    assert next_words([2, 3], [0.6, 0.2, 0.1, 0.1], 20) == [2, 3, 5]
    assert next_words([2, 3], [0.3, 0.2, 0.2, 0.3], 20) == [2, 3, 5, 6]
    assert next_words([2, 3], [0.1, 0.1, 0.1, 0.7], 20) == [2, 3]
    assert next_words([END, 3], [0.1, 0.1, 0.1, 0.7], 20) == [3, 5, 6], "it would end otherwise"
    assert next_words([2, 3], [0.1, 0.1, 0.1, 0.7], 3) == [5, 6], "there is no room for anything else"
    continued = Terms(terms.terms, lambda word: word == 2)
    begun = continued.after(continued.start, 5, (0,), (1.0, 0.0))
    found = continued.extensions(begun, [2], np.array([1.0, 0, 0, 0], np.float32), 3)
    assert [word for word, _ in found] == [6], "a word that continued the first term would leave no room for both"


def test_source_words_that_other_words_translated_are_noticed() -> None:
    terms = Terms([Term([5], 0, 1)])
    once = terms.after(terms.start, 5, (0,), (1.0,))
    assert once.doubled == 0
    assert terms.after(once, 3, (), (0.95,)).doubled == 1
    assert terms.after(terms.start, 3, (), (0.95,)).doubled == 1
