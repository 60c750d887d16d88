"""The alignment error rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.word_alignments import GoldLinks, parse_gold
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.aer import alignment_error_rate

links = st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20)
gold_links = st.builds(lambda sure, more: GoldLinks(sure, sure | more), links, links)


def test_the_alignment_error_rate_of_an_example_worked_by_hand() -> None:
    # |A| = 3 + 2, |S| = 2 + 2, |A∩S| = 1 + 1, |A∩P| = 2 + 1: 1 − (2 + 3) / (5 + 4)
    gold = [parse_gold("0-0 1-1 2p1"), parse_gold("0-1 1-0")]
    predicted = [frozenset({(0, 0), (2, 1), (3, 3)}), frozenset({(0, 1), (1, 1)})]
    score = alignment_error_rate(predicted, gold)
    assert score.aer == pytest.approx(4 / 9)
    assert score.precision == pytest.approx(3 / 5)
    assert score.recall == pytest.approx(2 / 4)
    assert (score.links, score.sure) == (5, 4)


@given(st.lists(gold_links, min_size=1, max_size=5))
def test_drawing_the_sure_links_or_all_possible_ones_is_no_error(gold: list[GoldLinks]) -> None:
    assert alignment_error_rate([g.sure for g in gold], gold).aer == 0
    score = alignment_error_rate([g.possible for g in gold], gold)
    assert (score.aer, score.precision, score.recall) == (0, 1, 1)


@given(st.lists(st.tuples(links, gold_links), min_size=1, max_size=5))
def test_rates_are_rates(pairs: list[tuple[frozenset[tuple[int, int]], GoldLinks]]) -> None:
    score = alignment_error_rate([p for p, _ in pairs], [g for _, g in pairs])
    for rate in (score.aer, score.precision, score.recall):
        assert 0 <= rate <= 1
    assert score.links == sum(len(p) for p, _ in pairs)


def test_drawing_nothing_finds_nothing() -> None:
    score = alignment_error_rate([frozenset()], [parse_gold("0-0")])
    assert (score.aer, score.precision, score.recall) == (1, 1, 0)
    assert alignment_error_rate([frozenset()], [parse_gold("")]).aer == 0


def test_as_many_alignments_as_gold_ones() -> None:
    with pytest.raises(RnnsearchError, match="1 alignments but 2 gold alignments"):
        alignment_error_rate([frozenset()], [parse_gold(""), parse_gold("")])
    with pytest.raises(RnnsearchError, match="0 alignments to score"):
        alignment_error_rate([], [])
