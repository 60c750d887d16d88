from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.error_rates import Confusion, aligned_symbols, compare_error_rates, error_rates

words = st.lists(st.sampled_from("abc"), max_size=6)


def levenshtein(one: list[str], other: list[str]) -> int:
    """By its recursive definition."""
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return levenshtein(one[1:], other[1:])
    return 1 + min(levenshtein(one[1:], other), levenshtein(one, other[1:]), levenshtein(one[1:], other[1:]))


@given(words, words)
def test_an_alignment_has_the_fewest_differences(translation: list[str], reference: list[str]) -> None:
    pairs = aligned_symbols(translation, reference)
    assert [one for one, _ in pairs if one] == translation
    assert [other for _, other in pairs if other] == reference
    assert sum(one != other for one, other in pairs) == levenshtein(translation, reference)


def test_error_rates_by_hand() -> None:
    references = [["a", "b"], ["c"], ["d", "e", "f"], ["g", "h"]]
    translations = [["a", "b"], ["k"], ["d", "f"], ["g", "h", "i"]]
    found = error_rates(translations, references)
    assert (found.wer, found.ser) == (75.0, 37.5)
    assert (found.lines, found.symbols) == (4, 8)
    assert found.confusions == [Confusion("e", "", 1), Confusion("", "i", 1), Confusion("c", "k", 1)]
    assert found.wer_interval[0] <= 75 <= found.wer_interval[1]


def test_an_interval_is_that_of_a_binomial_proportion() -> None:
    references = [["a"]] * 1000
    translations = [["b"]] * 100 + [["a"]] * 900
    low, high = error_rates(translations, references).wer_interval
    assert low == pytest.approx(10 - 1.96 * 0.949, abs=0.25)
    assert high == pytest.approx(10 + 1.96 * 0.949, abs=0.25)


def test_no_errors_at_all() -> None:
    found = error_rates([["a"]], [["a"]])
    assert (found.wer, found.wer_interval, found.ser, found.confusions) == (0.0, (0.0, 0.0), 0.0, [])


def test_differences_are_significant_where_they_are_large() -> None:
    references = [["a", "b"]] * 200
    good = [["a", "b"]] * 180 + [["a", "c"]] * 20
    bad = [["a", "c"]] * 60 + [["a", "b"]] * 140
    other = [["a", "c"]] * 22 + [["a", "b"]] * 178
    found = compare_error_rates({"good": good, "bad": bad, "other": other}, references)
    assert found["good", "bad"].wer < 0.01
    assert found["good", "bad"].ser < 0.01
    assert found["good", "other"].wer > 0.5
    assert found["bad", "good"] == found["good", "bad"]


@pytest.mark.parametrize(
    ("translations", "references", "message"),
    [([["a"]], [["a"], ["b"]], "1 translations but 2 references"), ([], [], "0 symbols"), ([["a"]], [[]], "0 symbols")],
)
def test_what_cannot_be_scored(translations: list[list[str]], references: list[list[str]], message: str) -> None:
    with pytest.raises(RnnsearchError, match=message):
        error_rates(translations, references)
