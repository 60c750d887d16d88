"""Minimum Bayes risk: the translation that is best to have written, whichever of the candidates is the right one.

Kumar and Byrne (2004). The candidates' probabilities, among themselves, say how likely each is to be right; how good another
would then have been is its chrF against it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rnnsearch.search import best_first
from rnnsearch.translation.translation import Translation


def expected_chrf(texts: Sequence[str], log_p: Sequence[float]) -> NDArray[np.float64]:
    """For each text, Σ_j p_j · chrF(text, text_j), from 0 to 100; p is `log_p` normalised over the texts."""
    from sacrebleu.metrics.chrf import CHRF

    p = np.exp(np.array(log_p) - max(log_p))
    metric, distinct = CHRF(), list(dict.fromkeys(texts))
    gain = {text: [metric.sentence_score(text, [other]).score for other in texts] for text in distinct}
    expected: NDArray[np.float64] = np.array([gain[text] for text in texts]) @ (p / p.sum())
    return expected


def rank_by_mbr(candidates: Sequence[Translation]) -> list[Translation]:
    """The candidates, those of the least risk first; of equal ones, the one that came first."""
    expected = expected_chrf([candidate.text for candidate in candidates], [candidate.score for candidate in candidates])
    return [candidates[i] for i in best_first(range(len(candidates)), lambda i: expected[i])]
