"""Tests of the paper's claims about scores: each holds, does not hold, or cannot be decided with the test set.

A claim holds if the results support it with p < 0.05, and does not hold if they support its opposite with p < 0.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.evaluation.significance import SIGNIFICANT, Comparison
from rnnsearch.report.results import Claim, SystemResult

FALLS = 0.1
"""BLEU falls with length if it is lower in the longest bin than in the middle bin by at least this share."""
FEWEST = 20
"""The smallest number of sentences of a bin that is compared."""

Changes = Mapping[str, NDArray[np.float64]]
"""For each system, the relative change of its BLEU from the middle bin to the longest one in each resampled test set."""


def check_claims(systems: Mapping[str, SystemResult], comparison: Comparison, changes: Changes) -> list[Claim]:
    """Test the claims of section 5; `systems` maps the names of systems in the paper to their results here.

    `changes` must have RNNencdec-50 and RNNsearch-50, unless there are no bins to compare (`compared_bins`). If `systems`
    has Moses, its results by length are shown with the third claim, because long sentences may simply be more difficult.
    """
    encdec_30, search_30 = systems["RNNencdec-30"], systems["RNNsearch-30"]
    encdec_50, search_50, longer = systems["RNNencdec-50"], systems["RNNsearch-50"], systems["RNNsearch-50*"]
    moses = [systems["Moses"]] if "Moses" in systems else []
    return [
        _better(
            "RNNsearch is above RNNencdec at each length limit",
            "5.1, Table 1",
            comparison,
            [search_30, encdec_30, search_50, encdec_50],
        ),
        _better(f"{search_30.name} is even above {encdec_50.name}", "5.1, Table 1", comparison, [search_30, encdec_50]),
        _lengths(encdec_50, search_50, [encdec_30, search_30, encdec_50, search_50, longer, *moses], changes),
        _better(f"Trained longer, {longer.name} is better still", "Table 1", comparison, [longer, search_50]),
    ]


def _better(statement: str, place: str, comparison: Comparison, systems: list[SystemResult]) -> Claim:
    """Test the claim that the first system is better than the second, the third better than the fourth, and so on."""
    verdicts: list[bool | None] = []
    figures = []
    for better, worse in list(pairwise(systems))[::2]:
        p, difference = comparison.p_value(better.name, worse.name), better.all.bleu - worse.all.bleu
        assert p is not None
        verdicts.append(difference > 0 if p < SIGNIFICANT and difference else None)
        chance = f"p = {p:.3f}" + ("" if p < SIGNIFICANT else ", so it may be chance")
        scores = (f"{system.name} {_score(system, comparison)}" for system in (better, worse))
        figures.append(f"{', '.join(scores)} BLEU ({chance})")
    test = "BLEU of all sentences, paired bootstrap resampling; ± is half of the 95% interval."
    return Claim(statement, place, test, _all_of(verdicts), figures)


def _score(system: SystemResult, comparison: Comparison) -> str:
    """Return BLEU with its confidence interval, and the updates of the training, as text."""
    half = comparison.interval[comparison.names.index(system.name)]
    updates = "" if system.training is None else f" after {system.training.updates:,} updates"
    return f"{system.all.bleu:.2f} ± {half:.2f}{updates}"


def _lengths(encdec: SystemResult, search: SystemResult, shown: list[SystemResult], changes: Changes) -> Claim:
    """Test the claim that the BLEU of `encdec` falls with the length of the sentence and that of `search` does not."""
    statement = f"{encdec.name} falls with the length of the sentence, {search.name} does not"
    place, test = "5.1, Figure 2", f"To fall is to lose {100 * FALLS:.0f}% of the BLEU from the middle bin to the longest."
    bins = compared_bins(search.by_length)
    if bins is None:
        few = f"Fewer than {FEWEST} sentences of the test set are of middle length, or fewer of any greater length."
        return Claim(statement, place, test, None, [few])
    middle, longest = bins
    figures = []
    for system in shown:
        before, after = system.by_length[middle].bleu, system.by_length[longest].bleu
        assert before is not None
        assert after is not None
        beyond = system.by_length[-1]
        further = "" if beyond.bleu is None else f"; {beyond.label} words: {beyond.bleu:.1f}"
        figures.append(
            f"{system.name}: {before:.1f} at {system.by_length[middle].label} words, {after:.1f} at "
            f"{system.by_length[longest].label} ({100 * (after - before) / max(before, 1e-9):+.0f}%{further})"
        )
    falls, stays = (_p_value(changes[encdec.name] > -FALLS), _p_value(changes[search.name] <= -FALLS))
    figures.append(
        f"To fall is to lose {100 * FALLS:.0f}% or more of the BLEU: p = {falls:.3f} that {encdec.name} falls, "
        f"p = {stays:.3f} that {search.name} does not (bootstrap resampling)."
    )
    verdicts = [True if p < SIGNIFICANT else False if p > 1 - SIGNIFICANT else None for p in (falls, stays)]
    return Claim(statement, place, test, _all_of(verdicts), figures)


def _p_value(against: NDArray[np.bool_]) -> float:
    """Return the p-value of a claim: the share of the resampled test sets that contradict it."""
    return float((against.sum() + 1) / (len(against) + 1))


def _all_of(verdicts: list[bool | None]) -> bool | None:
    """Return False if any verdict is False, else None if any is None (undecided), else True."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def compared_bins(by_length: list[LengthBin]) -> tuple[int, int] | None:
    """Return the numbers of the middle bin and of the longest bin to compare, or None if there are no two such bins.

    Both have an upper edge (the paper's Figure 2 ends at 60 words) and at least `FEWEST` sentences.
    """
    closed = range(len(by_length) - 1)
    enough = [number for number in closed if by_length[number].sentences >= FEWEST]
    middle = (len(closed) - 1) // 2
    if middle not in enough or enough[-1] <= middle:
        return None
    return middle, enough[-1]
