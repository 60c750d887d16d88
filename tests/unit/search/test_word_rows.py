"""The projections of words that the backend keeps between steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.weights import Weights
from rnnsearch.model import RNNsearch
from rnnsearch.search import onnx
from rnnsearch.search.onnx import NO_WORD, WordRows

WORDS = 19
CONFIG = ModelConfig(embedding_size=6, hidden_size=7, alignment_size=5, maxout_size=6)
WEIGHTS = Weights({key: tensor.numpy() for key, tensor in RNNsearch(CONFIG, 17, WORDS).state_dict().items()})
EVERY_WORD = np.arange(NO_WORD, WORDS)


def word_rows(room: int) -> WordRows:
    """The projections, with room for so many words."""
    with pytest.MonkeyPatch.context() as patch:
        width = WordRows(CONFIG, WEIGHTS, "fp32", True)(EVERY_WORD).shape[1]
        patch.setattr(onnx, "KEPT_NUMBERS", room * width)
        return WordRows(CONFIG, WEIGHTS, "fp32", True)


EXPECTED = word_rows(WORDS + 1)(EVERY_WORD)
FULL = word_rows(4)


@given(st.lists(st.lists(st.integers(NO_WORD, WORDS - 1), min_size=1, max_size=9), min_size=1, max_size=9))
def test_projections_are_the_same_bits_when_others_were_dropped(calls: list[list[int]]) -> None:
    for words in calls:
        np.testing.assert_array_equal(FULL(np.array(words)), EXPECTED[np.array(words) - NO_WORD])


def test_no_more_are_kept_than_there_is_room_for() -> None:
    rows = word_rows(4)
    for first in range(0, 15, 3):
        rows(np.arange(first, first + 3))
        assert len(rows._kept_XY) == 4
    computed: list[int] = []
    compute = rows._compute
    rows._compute = lambda arrays: computed.append(len(arrays["y"])) or compute(arrays)  # type: ignore[assignment,func-returns-value]
    rows(np.array([13, 12, 14]))
    assert not computed, "the words of the last call are kept"
    rows(np.array([1, 1, 2]))
    assert computed == [2], "those of an earlier call are not"
