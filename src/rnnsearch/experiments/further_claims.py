"""Tests of further claims of the paper: those of sections 3.2, 5.1 and 5.2 that are not comparisons of two scores.

Each statistic has a 95% confidence interval by bootstrap resampling of the test sentences. A claim holds if the whole
interval supports it, does not hold if the whole interval contradicts it, and is undecided otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rnnsearch.evaluation.significance import RESAMPLES, SIGNIFICANT, bootstrap_bleu
from rnnsearch.experiments.claims import FALLS, FEWEST
from rnnsearch.experiments.inspection import AFTER, FAR, NEAR, Inspection
from rnnsearch.report.results import Claim

ALIKE = 1.0
"""A system counts as being as good as another if its BLEU is lower by at most this much."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """The data for the tests of the further claims. Texts are detokenised, and line n of each belongs to sentence n."""

    search: str
    """The name of the system that corresponds to RNNsearch-50."""
    longer: str
    """The name of the system that corresponds to RNNsearch-50*."""
    sources: Sequence[str]
    references: Sequence[str]
    translations: Sequence[str]
    """The translations by RNNsearch-50."""
    lengths: Sequence[int]
    """The number of words of each source sentence."""
    middle: tuple[int, int]
    """The bounds of middle length: such sentences have more words than the first number, and at most the second."""
    long: int
    """The smallest number of words of a long sentence, which is 50 in the paper."""
    known_references: Sequence[str]
    """The references of the sentences without unknown words."""
    known_translations: Sequence[str]
    """The translations of these sentences by RNNsearch-50*."""
    known_moses: Sequence[str] | None
    """The translations of these sentences by Moses; None if there are none."""
    inspection: Inspection | None
    """The inspection of RNNsearch-50; None if an earlier version, which had no inspection, measured its translations."""


def further_claims(evidence: Evidence) -> list[Claim]:
    """Test the claims, in the order of the paper."""
    return [
        _annotations(evidence),
        _phrase_based(evidence),
        _long_sentences(evidence),
        _reversed_order(evidence),
        _articles(evidence),
        _lengths(evidence),
    ]


def _annotations(evidence: Evidence) -> Claim:
    """Test whether the annotations near a replaced word change more than those far from it (section 3.2)."""
    claim = (
        f"The annotations of {evidence.search} focus on the words around",
        "3.2",
        f"A word is replaced; annotations at most {NEAR} words from it change more than those {FAR} words away and more.",
    )
    if evidence.inspection is None or not evidence.inspection.annotations:
        return Claim(*claim, None, [_NOTHING if evidence.inspection else _NOT_MEASURED])
    pairs = np.array(evidence.inspection.annotations)
    resampled = resample(pairs, lambda drawn: drawn[:, 0].mean() - drawn[:, 1].mean())
    near, far = pairs.mean(0)
    figure = f"change {near:.3f} near, {far:.3f} far, in {len(pairs)} sentences; difference {interval(resampled, 3)}"
    return Claim(*claim, above(resampled, 0), [figure])


def _phrase_based(evidence: Evidence) -> Claim:
    """Test whether RNNsearch-50* is as good as Moses on sentences without unknown words (section 5.1)."""
    claim = (
        f"Without unknown words, {evidence.longer} is as good as the phrase-based Moses",
        "5.1, Table 1",
        f"No UNK: its BLEU is at most {ALIKE:g} below that of Moses.",
    )
    if evidence.known_moses is None:
        return Claim(*claim, None, ["No translation by Moses was given: --system Moses=FILE."])
    if len(evidence.known_references) < FEWEST:
        return Claim(*claim, None, [f"Fewer than {FEWEST} sentences of the test set have no unknown word."])
    ours, moses = (
        bootstrap_bleu(lines, evidence.known_references) for lines in (evidence.known_translations, evidence.known_moses)
    )
    figure = f"{evidence.longer} − Moses: {interval(ours - moses, 2)} BLEU on {len(evidence.known_references):,} sentences"
    return Claim(*claim, above(ours - moses, -ALIKE), [figure])


def _long_sentences(evidence: Evidence) -> Claim:
    """Test whether the BLEU of RNNsearch-50 on long sentences is about that on sentences of middle length (section 5.1)."""
    low, high = evidence.middle
    claim = (
        f"{evidence.search} does not deteriorate even with sentences of {evidence.long} words and more",
        "5.1, Figure 2",
        f"It loses less than {100 * FALLS:.0f}% of the BLEU that it has at {low + 1} to {high} words.",
    )
    middle = [i for i, words in enumerate(evidence.lengths) if low < words <= high]
    long = [i for i, words in enumerate(evidence.lengths) if words >= evidence.long]
    if min(len(middle), len(long)) < FEWEST:
        return Claim(*claim, None, [f"Of {len(middle)} and {len(long)} sentences of these lengths, {FEWEST} are needed."])
    before, after = (
        bootstrap_bleu([evidence.translations[i] for i in chosen], [evidence.references[i] for i in chosen])
        for chosen in (middle, long)
    )
    change = 100 * (after - before) / np.maximum(before, 1e-9)
    figure = f"BLEU changes by {interval(change, 1)}% in {len(long):,} long sentences, from {np.median(before):.1f}"
    return Claim(*claim, above(change, -100 * FALLS), [figure])


def _reversed_order(evidence: Evidence) -> Claim:
    """Test whether attention follows the gold links of neighbouring words in reversed order (section 5.2.1)."""
    claim = (
        f"{evidence.search} aligns adjectives and nouns in reversed order",
        "5.2.1, Figure 3",
        "Of neighbouring words that gold links have in reversed order, more than half attend to just these words.",
    )
    if evidence.inspection is None:
        return Claim(*claim, None, [_NOT_MEASURED])
    if evidence.inspection.reversals is None:
        return Claim(*claim, None, ["The test set has no gold links."])
    if not evidence.inspection.reversals:
        return Claim(*claim, None, [_NOTHING])
    counts = np.array(evidence.inspection.reversals, np.float64)
    shares = 100 * resample(counts, lambda drawn: drawn[:, 0].sum() / drawn[:, 1].sum())
    return Claim(*claim, above(shares, 50), [f"{interval(shares, 1)}% of {int(counts[:, 1].sum()):,} pairs of words"])


def _articles(evidence: Evidence) -> Claim:
    """Test whether articles attend more to the words after their own source word than other words do (section 5.2.1)."""
    claim = (
        f"The soft alignment of {evidence.search} lets an article look at its noun",
        "5.2.1",
        f"Articles give more weight to the {AFTER} words after the one that they attend to most than other words do.",
    )
    if evidence.inspection is None:
        return Claim(*claim, None, [_NOT_MEASURED])
    if evidence.inspection.articles is None:
        return Claim(*claim, None, ["Tested for French only."])
    if not evidence.inspection.articles:
        return Claim(*claim, None, [_NOTHING])
    pairs = np.array(evidence.inspection.articles)
    resampled = resample(pairs, lambda drawn: drawn[:, 0].mean() - drawn[:, 1].mean())
    articles, others = pairs.mean(0)
    figure = f"weight {articles:.3f} of articles, {others:.3f} of other words; difference {interval(resampled, 3)}"
    return Claim(*claim, above(resampled, 0), [figure])


def _lengths(evidence: Evidence) -> Claim:
    """Test whether the length ratios of translations and of references are correlated (section 5.2.1)."""
    claim = (
        f"{evidence.search} deals with source and target of different lengths",
        "5.2.1",
        "Where the reference is longer than its source, so is the translation: their length ratios are correlated.",
    )
    words = np.array(
        [
            [len(line.split()) for line in lines]
            for lines in zip(evidence.sources, evidence.references, evidence.translations, strict=True)
        ],
        np.float64,
    ).reshape(-1, 3)
    words = words[(words > 0).all(1)]
    if len(words) < FEWEST:
        return Claim(*claim, None, [_NOTHING])
    ratios = np.log(words[:, 1:] / words[:, :1])
    resampled = resample(ratios, _correlation)
    differing = 100 * float((words[:, 0] != words[:, 2]).mean())
    figure = f"correlation {interval(resampled, 2)}; {differing:.0f}% of the translations differ from their source in length"
    return Claim(*claim, above(resampled, 0), [figure])


def _correlation(pairs: Floats) -> float:
    """Return Pearson's correlation coefficient of the two columns; 0 if a column is constant."""
    deviations = pairs.std(0)
    if not deviations.all():
        return 0.0
    return float(((pairs - pairs.mean(0)) / deviations).prod(1).mean())


def resample(rows: Floats, statistic: Callable[[Floats], float]) -> Floats:
    """Return the values of a statistic for `RESAMPLES` samples that are drawn with replacement from the rows."""
    random = np.random.default_rng(12345)
    return np.array([statistic(rows[random.integers(len(rows), size=len(rows))]) for _ in range(RESAMPLES)])


def above(resampled: Floats, bound: float) -> bool | None:
    """Return whether the 95% interval of a resampled statistic is above the bound; None if it contains the bound."""
    low, high = _ends(resampled)
    return True if low > bound else False if high < bound else None


def interval(resampled: Floats, places: int) -> str:
    """Return the median and the 95% interval of a resampled statistic as text, with this number of decimal places."""
    low, high = _ends(resampled)
    return f"{np.median(resampled):.{places}f} (95%: {low:.{places}f} to {high:.{places}f})"


def _ends(resampled: Floats) -> tuple[float, float]:
    low, high = np.quantile(resampled, (SIGNIFICANT / 2, 1 - SIGNIFICANT / 2))
    return float(low), float(high)


_NOT_MEASURED = "Not measured in this folder: its translations are of an earlier version."
_NOTHING = "The test set has too few such sentences."
