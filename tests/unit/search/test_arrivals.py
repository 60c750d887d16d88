"""A search that sentences are added to, and taken from, at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.model import RNNsearch
from rnnsearch.search import Hypothesis, Query, Search
from rnnsearch.search.backend import Backend
from rnnsearch.search.plain import PlainBackend
from toy import beam_search, onnx_backend, random_model

WORDS = 7
CONFIG = SearchConfig(beam=3, maximum_length_ratio=2.0, coverage=0.1, minimum_length_ratio=0.3)
arrivals = st.lists(
    st.tuples(
        st.lists(st.integers(1, 5), max_size=6),  # the sentence
        st.integers(1, 4),  # its beam
        st.lists(st.integers(2, WORDS - 1), max_size=2),  # its prefix
        st.integers(0, 6),  # the step at which it arrives
        st.integers(0, 12),  # the step at which it is cancelled, if it is
    ),
    min_size=1,
    max_size=8,
)


def same(found: list[Hypothesis], alone: list[Hypothesis]) -> None:
    assert [(one.words, one.finished) for one in found] == [(one.words, one.finished) for one in alone]
    for one, other in zip(found, alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
        np.testing.assert_allclose(one.alignment, other.alignment, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [onnx_backend, PlainBackend])
@given(given_=arrivals, slots=st.integers(1, 3), some_are_cancelled=st.booleans())
@settings(deadline=None)
def test_every_sentence_gets_what_it_gets_alone(
    kind: Callable[[RNNsearch], Backend],
    given_: list[tuple[list[int], int, list[int], int, int]],
    slots: int,
    some_are_cancelled: bool,
) -> None:
    sizes = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 3}
    backend = kind(random_model(ModelConfig(**sizes), 6, WORDS, 5, 0.8).eval())
    queries = [Query(words, beam, prefix) for words, beam, prefix, _, _ in given_]
    leavers = {query for number, query in enumerate(queries) if some_are_cancelled and number % 2}
    search = Search(backend, replace(CONFIG, batch_sentences=slots))
    done: list[Query] = []
    for step in range(200):
        search.add(query for query, (*_, arrives, _) in zip(queries, given_, strict=True) if arrives == step)
        for query, (*_, leaves) in zip(queries, given_, strict=True):
            query.cancelled = query.cancelled or (query in leavers and leaves == step)
        if search.busy:
            done += search.step()
    assert not search.busy
    assert search.free == slots
    assert sorted(map(id, done)) == sorted(map(id, queries))
    for query in queries:
        if not query.cancelled:
            one = SearchConfig(**{**vars_of(CONFIG), "beam": query.beam})
            same(query.hypotheses, beam_search(backend, [query.words], one, [query.prefix])[0])


def vars_of(config: SearchConfig) -> dict[str, object]:
    return {key: value for key, value in vars(config).items() if not key.startswith("_")}


def test_what_is_cancelled_leaves_its_slot_at_once() -> None:
    sizes = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 3}
    model = random_model(ModelConfig(**sizes), 6, WORDS, 5, 0.8).eval()
    search = Search(PlainBackend(model), SearchConfig(beam=2, maximum_length_ratio=100, batch_sentences=1))
    model.readout.b_w.data[0] = -1e9  # nothing ends
    long, other = Query([1, 2], 2), Query([3], 2)
    search.add([long, other])
    assert [search.step() for _ in range(5)] == [[]] * 5
    assert (search.free, search.waiting) == (0, 1)
    long.cancelled = True
    assert search.step() == [long]
    assert not any(hypothesis.finished for hypothesis in long.hypotheses)
    search.step()
    assert search.waiting == 0
