"""The one order of candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.search import Ranking, best_first


@given(log_p=st.floats(-50, 0), length=st.integers(1, 60), power=st.floats(0, 3))
def test_length_normalization(log_p: float, length: int, power: float) -> None:
    assert Ranking(power).score(log_p, length) == log_p / math.pow(length, power)


def test_coverage_counts_what_each_source_word_was_read_up_to_one() -> None:
    alignment = np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]], np.float32)  # the last column is the end symbol's
    expected = -2.0 + 0.3 * (math.log(1.0) + math.log(1e-3))
    assert Ranking(0.0, 0.3).score(-2.0, 3, alignment) == pytest.approx(expected)
    assert Ranking(0.0, 0.3).score(-2.0, 3, None) == -2.0
    assert Ranking(0.0, 0.0).score(-2.0, 3, alignment) == -2.0


@given(scores=st.lists(st.integers(0, 3)))
def test_of_equal_candidates_the_first_stays_first(scores: list[int]) -> None:
    ordered = best_first(enumerate(scores), lambda candidate: candidate[1])
    assert ordered == sorted(enumerate(scores), key=lambda candidate: (-candidate[1], candidate[0]))
