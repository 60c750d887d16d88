"""Scores of links against gold links: the significance of a difference, and the reliability of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import LineLinks
from rnnsearch.data.word_alignments import GoldLinks, Links

RESAMPLES = 10_000
BINS = 10
Doubles = NDArray[np.float64]


def p_value(one: Sequence[Links], other: Sequence[Links], gold: Sequence[GoldLinks], numbers: Sequence[int]) -> float:
    """How probable a difference in AER as large as that of two aligners is if both are equally good.

    Paired bootstrap resampling of the sentences: the resampled differences are moved to a mean of zero, and those that are
    then as large as the observed one are counted, as sacreBLEU does it for BLEU.
    """
    counts = [_counts([links[n] for n in numbers], [gold[n] for n in numbers]) for links in (one, other)]
    draws = np.random.default_rng(1).integers(len(numbers), size=(RESAMPLES, len(numbers)))
    observed = _aer(counts[0].sum(0)) - _aer(counts[1].sum(0))
    resampled = _aer(counts[0][draws].sum(1)) - _aer(counts[1][draws].sum(1))
    return float(((np.abs(resampled - resampled.mean()) >= np.abs(observed)).sum() + 1) / (RESAMPLES + 1))


Cells = tuple[NDArray[np.int64], NDArray[np.int64], Doubles]
"""Source position, target position and probability of some pairs of words of a sentence pair."""


def cells_of(line: LineLinks) -> Cells:
    """The cells that the aligner returns."""
    return line.source, line.target, line.probability


def reliability(lines: Sequence[Cells], gold: Sequence[GoldLinks]) -> dict[str, Any]:
    """How often cells of each probability are links: of drawn links, and of all given cells.

    Cells that are only possible links are left out, since annotators left it open whether they are links.
    """
    probability, linked = (np.concatenate(parts) for parts in zip(*map(_decided, lines, gold), strict=True))
    return {
        "drawn links": _reliability(probability[probability > 0.5], linked[probability > 0.5]),
        "all cells": _reliability(probability, linked),
    }


def _decided(line: Cells, gold: GoldLinks) -> tuple[Doubles, Doubles]:
    source, target, probability = line
    cells = list(zip(source.tolist(), target.tolist(), strict=True))
    linked = np.array([cell in gold.sure for cell in cells], float)
    open_ = np.array([cell in gold.possible and cell not in gold.sure for cell in cells], bool)
    return probability[~open_], linked[~open_]


def _reliability(probability: Doubles, linked: Doubles) -> dict[str, Any]:
    """Bins of equal width, and the expected calibration error (Guo et al. 2017)."""
    which = np.minimum((probability * BINS).astype(int), BINS - 1)
    bins = []
    for n in np.unique(which).tolist():
        here = which == n
        means = {"probability": float(probability[here].mean()), "linked": float(linked[here].mean())}
        bins.append({"from": n / BINS, "to": (n + 1) / BINS, "cells": int(here.sum())} | means)
    error = sum(one["cells"] * abs(one["probability"] - one["linked"]) for one in bins) / max(1, len(probability))
    return {"expected_calibration_error": error, "bins": bins}


def _counts(links: Sequence[Links], gold: Sequence[GoldLinks]) -> Doubles:
    """Of each sentence |A∩S| + |A∩P| and |A| + |S|."""
    pairs = zip(links, gold, strict=True)
    return np.array([(len(a & g.sure) + len(a & g.possible), len(a) + len(g.sure)) for a, g in pairs], float)


def _aer(counts: Doubles) -> Doubles:
    return 1 - counts[..., 0] / counts[..., 1]
