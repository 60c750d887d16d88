"""The statistical significance of differences in BLEU, by paired bootstrap resampling (Koehn 2004) with sacreBLEU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from rnnsearch.errors import RnnsearchError

RESAMPLES = 1000
SIGNIFICANT = 0.05
"""A difference counts as significant if its p-value is below this."""


@dataclass(frozen=True)
class Comparison:
    """The comparison of all pairs of several systems on one test set."""

    names: list[str]
    bleu: list[float]
    """The BLEU score of each system, from 0 to 100."""
    interval: list[float]
    """Half the width of the 95% confidence interval of each BLEU score."""
    p: list[list[float | None]]
    """p[i][j] is the probability of a difference this large if systems i and j are equally good; None if i = j."""
    signature: str

    def p_value(self, one: str, other: str) -> float | None:
        """Return the p-value of the difference between the systems with these names."""
        return self.p[self.names.index(one)][self.names.index(other)]


def bootstrap_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return BLEU on `RESAMPLES` test sets that are drawn with replacement from these sentences.

    The draws have a fixed seed, so they are the same for every system.
    """
    # BLEU depends only on sums over the sentences: matching n-grams, n-grams and lengths. Smoothing does not change these.
    metric = BLEU(effective_order=True, force=True)
    scores = [metric.sentence_score(line, [reference]) for line, reference in zip(hypotheses, references, strict=True)]
    sums = np.array([[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores])
    draws = np.random.default_rng(12345).integers(len(sums), size=(RESAMPLES, len(sums)))
    order = metric.max_ngram_order
    return np.array(
        [
            BLEU.compute_bleu(list(drawn[:order]), list(drawn[order : 2 * order]), int(drawn[-2]), int(drawn[-1])).score
            for drawn in sums[draws].sum(1)
        ]
    )


def compare(outputs: Mapping[str, Sequence[str]], references: Sequence[str]) -> Comparison:
    """Compare the detokenised translations of several systems, by the names of the systems, with each other.

    Raises RnnsearchError if there are fewer than two systems, if a system does not have one line for every reference, or if
    there are no references.
    """
    if len(outputs) < 2:
        raise RnnsearchError("there is nothing to compare; give the translations of two systems or more")
    for name, lines in outputs.items():
        if len(lines) != len(references):
            raise RnnsearchError(
                f"{name} has {len(lines):,} lines, but the test set has {len(references):,}; "
                "line n must be the translation of sentence n"
            )
    if not references:
        raise RnnsearchError("there are 0 translations to compare; give at least one sentence and its reference")
    systems = list(outputs.items())
    p: list[list[float | None]] = [[None] * len(systems) for _ in systems]
    scores: list[float] = []
    interval: list[float] = []
    signature = ""
    for first in range(len(systems) - 1):
        # force: sacreBLEU otherwise logs that the text looks tokenised.
        metric = BLEU(force=True, references=[references])
        test = PairedTest(systems[first:], {"BLEU": metric}, None, test_type="bs", n_samples=RESAMPLES)
        signatures, results = test()
        for second, result in enumerate(results["BLEU"][1:], first + 1):
            assert not isinstance(result, str)
            # sacreBLEU counts the resampled differences that are greater than the observed one. If all of them are zero,
            # none is, and the p-value would be near 0.
            same = result.score == results["BLEU"][0].score  # type: ignore[union-attr]
            p[first][second] = p[second][first] = 1.0 if same else result.p_value
        if first == 0:
            signature = str(signatures["BLEU"])
            for result in results["BLEU"]:
                assert not isinstance(result, str)
                scores.append(result.score)
                interval.append(float(result.ci or 0.0))
    return Comparison(list(outputs), scores, interval, p, signature)
