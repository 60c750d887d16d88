"""The verdicts of the further claims, on made-up evidence that speaks for them, against them, and for neither."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rnnsearch.data.word_alignments import parse_gold
from rnnsearch.experiments.further_claims import Evidence, above, further_claims, resample
from rnnsearch.experiments.inspection import Inspection, annotation_changes, article_weights, reversals
from rnnsearch.report.results import Claim
from rnnsearch.translation import Translator

TEXT = "le chat noir dort sur la table de bois et rêve des souris grises qui dansent"
WORDS = TEXT.split()
REFERENCES = [" ".join(WORDS[i % 5 : i % 5 + 6 + i % 4]) for i in range(60)]
SOURCES = [" ".join(WORDS[: 6 + (i % 2)]) for i in range(60)]
LENGTHS = [25 if i < 30 else 55 for i in range(60)]
WORSE = [" ".join(line.split()[::-1]) for line in REFERENCES]
GOOD = Inspection(
    annotations=[(0.5, 0.1), (0.4, 0.05)] * 20, reversals=[(2, 2), (1, 1)] * 20, articles=[(0.3, 0.1), (0.4, 0.2)] * 20
)
EVIDENCE = Evidence(
    search="RNNsearch-50",
    longer="RNNsearch-50*",
    sources=SOURCES,
    references=REFERENCES,
    translations=REFERENCES,
    lengths=LENGTHS,
    middle=(20, 30),
    long=50,
    known_references=REFERENCES,
    known_translations=REFERENCES,
    known_moses=REFERENCES,
    inspection=GOOD,
)
ANNOTATIONS, MOSES, LONG, REVERSED, ARTICLES, RATIOS = range(6)


def claim(number: int, **changes: object) -> Claim:
    return further_claims(replace(EVIDENCE, **changes))[number]  # type: ignore[arg-type]


def test_all_hold_where_everything_speaks_for_them() -> None:
    claims = further_claims(EVIDENCE)
    assert [one.held for one in claims] == [True] * 6
    assert all(one.place and one.test for one in claims)
    assert "95%" in claims[MOSES].figures[0]


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (ANNOTATIONS, {"inspection": replace(GOOD, annotations=[(0.1, 0.5)] * 40)}),
        (MOSES, {"known_translations": WORSE}),
        (LONG, {"translations": [*REFERENCES[:30], *WORSE[30:]]}),
        (REVERSED, {"inspection": replace(GOOD, reversals=[(0, 2)] * 40)}),
        (ARTICLES, {"inspection": replace(GOOD, articles=[(0.1, 0.3)] * 40)}),
        (RATIOS, {"translations": [" ".join("a" * (16 - len(line.split()))) for line in REFERENCES], "sources": ["b"] * 60}),
    ],
)
def test_each_can_fail(number: int, changes: dict[str, object]) -> None:
    assert claim(number, **changes).held is False


@pytest.mark.parametrize(
    ("number", "changes", "reason"),
    [
        (MOSES, {"known_moses": None}, "--system Moses=FILE"),
        (MOSES, {"known_references": [], "known_translations": [], "known_moses": []}, "Fewer than 20"),
        (LONG, {"lengths": [25] * 60}, "Of 60 and 0 sentences"),
        (REVERSED, {"inspection": replace(GOOD, reversals=None)}, "no gold links"),
        (ARTICLES, {"inspection": replace(GOOD, articles=None)}, "French only"),
        (ANNOTATIONS, {"inspection": None}, "earlier version"),
        (REVERSED, {"inspection": None}, "earlier version"),
        (ARTICLES, {"inspection": None}, "earlier version"),
        (ANNOTATIONS, {"inspection": replace(GOOD, annotations=[])}, "too few"),
        (RATIOS, {"sources": [""] * 60}, "too few"),
    ],
)
def test_what_cannot_be_tested_says_why(number: int, changes: dict[str, object], reason: str) -> None:
    found = claim(number, **changes)
    assert found.held is None
    assert reason in found.figures[0]


def test_longer_translations_of_longer_references_only() -> None:
    """A system whose translations are always as long as their sources shows nothing."""
    assert claim(RATIOS, translations=SOURCES).held is not True


@given(st.lists(st.floats(-1, 1), min_size=5, max_size=40))
def test_a_verdict_is_that_of_the_whole_interval(values: list[float]) -> None:
    resampled = resample(np.array(values)[:, np.newaxis], lambda rows: rows.mean())
    held = above(resampled, 0)
    low, high = np.quantile(resampled, (0.025, 0.975))
    assert held == (True if low > 0 else False if high < 0 else None)


def attends(*positions: int, width: int = 5) -> NDArray[np.float32]:
    alpha = np.full((len(positions), width), 0.1, np.float32)
    alpha[np.arange(len(positions)), positions] = 0.6
    return alpha


def test_reversals_are_those_of_neighbours_on_both_sides() -> None:
    """Gold links: the words 0 and 1 are read from 1 and 0, the words 2 and 3 in order, the word 4 from nothing."""
    gold = parse_gold("1-0 0-1 2-2 3-3")
    assert reversals(attends(1, 0, 2, 3), gold) == (1, 1)
    assert reversals(attends(0, 1, 2, 3), gold) == (0, 1)
    assert reversals(attends(0, 1), parse_gold("0-0 1-1")) == (0, 0)
    assert reversals(attends(2, 0), parse_gold("2-0 0-1")) == (0, 0), "not neighbours in the source"
    assert reversals(attends(1, 0), parse_gold("1-0 0-0 0-1")) == (0, 0), "a word of two links has no single place"


def test_articles_are_compared_with_other_words() -> None:
    weights = article_weights(["L'", "homme"], np.array([[0.5, 0.4, 0.1], [0.1, 0.9, 0.0]], np.float32))
    assert weights == pytest.approx((0.5, 0.0))
    assert article_weights(["homme"], attends(0)) is None
    assert article_weights(["la", "le"], attends(0, 1)) is None


def test_annotations_change_where_a_word_is_replaced(trained: object) -> None:
    translator = trained()  # type: ignore[operator]
    assert isinstance(translator, Translator)
    lines = ("the big dog sees a red cat and the old man has a house .", "the dog .")
    changes = annotation_changes(translator.system, [line.split() for line in lines])
    assert len(changes) == 1, "a short sentence has no far annotations"
    near, far = changes[0]
    assert near > far >= 0
