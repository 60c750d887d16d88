"""The paper's four claims, and whether they hold here: said as found."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.evaluation.significance import Comparison
from rnnsearch.report.results import Claim, SystemResult

FALLS = 0.1
"""BLEU falls with length if the longest bin is this share or more below the middle one."""
FEWEST = 20
"""A bin of fewer sentences says nothing."""


def check_claims(systems: Mapping[str, SystemResult], comparison: Comparison) -> list[Claim]:
    """The claims of section 5, on systems by their names in the paper.

    Where there is a Moses, how it does on long sentences stands beside the third: the sentences may simply be harder.
    """
    encdec_30, search_30 = systems["RNNencdec-30"], systems["RNNsearch-30"]
    encdec_50, search_50, longer = systems["RNNencdec-50"], systems["RNNsearch-50"], systems["RNNsearch-50*"]
    beside = [systems["Moses"]] if "Moses" in systems else []
    return [
        _better(
            "RNNsearch is above RNNencdec at each length limit", comparison, [search_30, encdec_30, search_50, encdec_50]
        ),
        _better(f"{search_30.name} is even above {encdec_50.name}", comparison, [search_30, encdec_50]),
        _lengths(encdec_50, search_50, [encdec_30, search_30, encdec_50, search_50, longer, *beside]),
        _better(f"Trained longer, {longer.name} is better still", comparison, [longer, search_50]),
    ]


def _better(statement: str, comparison: Comparison, systems: list[SystemResult]) -> Claim:
    """That the first is above the second, the third above the fourth, and so on."""
    held, figures = True, []
    for better, worse in list(pairwise(systems))[::2]:
        p = comparison.p_value(better.name, worse.name)
        held = held and better.all.bleu > worse.all.bleu
        assert p is not None
        chance = f"p = {p:.3f}" + ("" if p < 0.05 else ", so it may be chance")
        figures.append(f"{better.name} {better.all.bleu:.2f}, {worse.name} {worse.all.bleu:.2f} BLEU ({chance})")
    return Claim(statement, held, figures)


def _lengths(encdec: SystemResult, search: SystemResult, shown: list[SystemResult]) -> Claim:
    statement = f"{encdec.name} falls with the length of the sentence, {search.name} does not"
    bins = compared_bins(search.by_length)
    if bins is None:
        few = f"Fewer than {FEWEST} sentences of the test set are of middle length, or fewer of any greater length."
        return Claim(statement, None, [few])
    middle, longest = bins
    figures = []
    changes = {}
    for system in shown:
        before, after = system.by_length[middle].bleu, system.by_length[longest].bleu
        assert before is not None
        assert after is not None
        changes[system.name] = (after - before) / max(before, 1e-9)
        beyond = system.by_length[-1]
        further = "" if beyond.bleu is None else f"; {beyond.label} words: {beyond.bleu:.1f}"
        figures.append(
            f"{system.name}: {before:.1f} at {system.by_length[middle].label} words, {after:.1f} at "
            f"{system.by_length[longest].label} ({100 * changes[system.name]:+.0f}%{further})"
        )
    held = changes[encdec.name] <= -FALLS < changes[search.name]
    figures.append(f"To fall is to lose {100 * FALLS:.0f}% or more of the BLEU.")
    return Claim(statement, held, figures)


def compared_bins(by_length: list[LengthBin]) -> tuple[int, int] | None:
    """The middle bin and the longest one, of those that the paper's Figure 2 shows (it ends at 60 words) and that have
    sentences enough; None where these are the same."""
    closed = range(len(by_length) - 1)
    enough = [number for number in closed if by_length[number].sentences >= FEWEST]
    middle = (len(closed) - 1) // 2
    if middle not in enough or enough[-1] <= middle:
        return None
    return middle, enough[-1]
