"""The verdicts, on made-up scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rnnsearch.evaluation.bleu import CorpusScore, LengthBin
from rnnsearch.evaluation.significance import Comparison
from rnnsearch.experiments import paper
from rnnsearch.experiments.claims import FEWEST, check_claims, compared_bins
from rnnsearch.report.results import Claim, SystemResult

NAMES = ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"]
EDGES = [0, 10, 20, 30, 40, 50, 60, None]
FLAT, FALLING = [26.0, 27.0, 27.0, 27.0, 26.0, 26.0, 25.0], [20.0, 22.0, 20.0, 16.0, 12.0, 9.0, 6.0]


def bins(bleu: list[float], sentences: list[int] | None = None) -> list[LengthBin]:
    counts = sentences or [100] * len(bleu)
    return [
        LengthBin(low or 0, high, count, score if count else None)
        for low, high, count, score in zip(EDGES[:-1], EDGES[1:], counts, bleu, strict=True)
    ]


def systems(
    bleu: dict[str, float], lengths: dict[str, list[float]] | None = None, sentences: list[int] | None = None
) -> dict[str, SystemResult]:
    return {
        name: SystemResult(
            name=name,
            paper=name,
            all=CorpusScore(score, "signature", 50.0, "signature", 1.0, 1.0, 700),
            no_unk=None,
            by_length=bins((lengths or {}).get(name, FLAT if "search" in name else FALLING), sentences),
            training=None,
            aer=None,
            unread=None,
            unfinished=0,
            commands=(),
        )
        for name, score in bleu.items()
    }


def comparison(p: float = 0.001) -> Comparison:
    matrix = [[None if i == j else p for j in range(5)] for i in range(5)]
    return Comparison(NAMES, [0.0] * 5, [0.5] * 5, matrix, "signature")


def changes(lengths: dict[str, list[float]] | None = None, spread: float = 0.02) -> dict[str, NDArray[np.float64]]:
    """A thousand changes from the third bin to the sixth, about what the bins say."""
    noise = np.linspace(-spread, spread, 1000)
    found = {}
    for name in NAMES:
        bleu = (lengths or {}).get(name, FLAT if "search" in name else FALLING)
        found[name] = (bleu[5] - bleu[2]) / bleu[2] + noise
    return found


def the_papers() -> dict[str, float]:
    return {name: paper.ROWS[name].all for name in NAMES}


def verdicts(claims: list[Claim]) -> list[bool | None]:
    return [claim.held for claim in claims]


def test_all_four_hold_for_the_papers_own_numbers() -> None:
    claims = check_claims(systems(the_papers()), comparison(), changes())
    assert verdicts(claims) == [True, True, True, True]
    assert claims[0].figures[0] == "RNNsearch-30 21.50 ± 0.50, RNNencdec-30 13.93 ± 0.50 BLEU (p = 0.001)"
    assert len(claims[0].figures) == 2


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"RNNsearch-30": 13.0}, [False, False, True, True]),
        ({"RNNencdec-50": 27.0}, [False, False, True, True]),
        ({"RNNencdec-50": 22.0}, [True, False, True, True]),
        ({"RNNsearch-50*": 26.0}, [True, True, True, False]),
        ({"RNNsearch-50*": 26.75}, [True, True, True, None]),
        ({"RNNencdec-30": 21.5}, [None, True, True, True]),
        ({"RNNencdec-30": 21.5, "RNNencdec-50": 27.0}, [False, False, True, True]),
    ],
)
def test_each_can_fail(changed: dict[str, float], expected: list[bool]) -> None:
    assert verdicts(check_claims(systems(the_papers() | changed), comparison(), changes())) == expected


@pytest.mark.parametrize("worse", [True, False])
def test_what_may_be_chance_cannot_be_said(worse: bool) -> None:
    """Neither that the claim holds nor that it does not."""
    bleu = the_papers() | {"RNNsearch-50*": 26.73 if worse else 26.77}
    claims = check_claims(systems(bleu), comparison(p=0.32), changes())
    assert verdicts(claims) == [None, None, True, None]
    assert "p = 0.320, so it may be chance" in claims[3].figures[0]


def test_one_undecided_comparison_leaves_a_claim_undecided() -> None:
    one_pair = comparison()
    first, second = NAMES.index("RNNsearch-30"), NAMES.index("RNNencdec-30")
    one_pair.p[first][second] = one_pair.p[second][first] = 0.06
    assert verdicts(check_claims(systems(the_papers()), one_pair, changes())) == [None, True, True, True]


def test_a_fall_that_may_be_chance_cannot_be_said() -> None:
    """FLAT loses 4%: with sentences enough that is no fall, and with few it may be one."""
    certain = check_claims(systems(the_papers()), comparison(), changes(spread=0.05))[2]
    uncertain = check_claims(systems(the_papers()), comparison(), changes(spread=0.3))[2]
    assert certain.held is True
    assert uncertain.held is None
    assert "p = 0.001 that RNNencdec-50 falls" in certain.figures[-1]


@pytest.mark.parametrize(
    ("lengths", "held"),
    [
        ({}, True),
        ({"RNNsearch-50": FALLING}, False),
        ({"RNNencdec-50": FLAT}, False),
        ({"RNNsearch-30": FALLING}, True),  # the paper's, too, falls a little
    ],
)
def test_falling_with_length(lengths: dict[str, list[float]], held: bool) -> None:
    claim = check_claims(systems(the_papers(), lengths), comparison(), changes(lengths))[2]
    assert claim.held is held
    assert len([figure for figure in claim.figures if "words" in figure]) == len(NAMES)


def test_the_longest_bin_is_compared_with_the_middle_one() -> None:
    claim = check_claims(systems(the_papers()), comparison(), changes())[2]
    encdec = next(figure for figure in claim.figures if figure.startswith("RNNencdec-50"))
    assert encdec == "RNNencdec-50: 20.0 at 21–30 words, 9.0 at 51–60 (-55%; 61+ words: 6.0)"


def test_bins_of_few_sentences_are_not_judged_by() -> None:
    assert compared_bins(bins(FLAT)) == (2, 5)
    assert compared_bins(bins(FLAT, [50, 50, 50, 50, FEWEST, FEWEST - 1, 50])) == (2, 4)
    assert compared_bins(bins(FLAT, [50, 50, 50, 3, 0, 0, 0])) is None
    assert compared_bins(bins(FLAT, [50, 50, 3, 50, 50, 50, 0])) is None


def test_too_short_a_test_set_cannot_tell() -> None:
    claim = check_claims(systems(the_papers(), sentences=[100, 100, 100, 5, 0, 0, 0]), comparison(), {})[2]
    assert claim.held is None
    assert "20 sentences" in claim.figures[0]


def test_moses_stands_beside_the_claim_about_length() -> None:
    with_moses = systems({**the_papers(), "Moses": 33.3}, {"Moses": FLAT})
    figures = check_claims(with_moses, comparison(), changes())[2].figures
    assert any(figure.startswith("Moses: 27.0 at") for figure in figures)
    assert not any("Moses" in figure for figure in check_claims(systems(the_papers()), comparison(), changes())[2].figures)
