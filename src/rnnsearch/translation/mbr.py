"""Minimum Bayes risk (MBR): the candidate with the highest expected chrF under the model (Kumar & Byrne 2004).

The expectation is taken over the candidates themselves: each serves as the reference, weighted by its probability, which is
normalised over the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rnnsearch.search import best_first
from rnnsearch.translation.translation import Translation


def expected_chrf(texts: Sequence[str], log_p: Sequence[float]) -> NDArray[np.float64]:
    """Return Σ_j p_j · chrF(text, text_j) of each text, from 0 to 100; p is `log_p` normalised over the texts."""
    from sacrebleu.metrics.chrf import CHRF

    p = np.exp(np.array(log_p) - max(log_p))
    metric, distinct = CHRF(), list(dict.fromkeys(texts))
    gain = {text: [metric.sentence_score(text, [other]).score for other in texts] for text in distinct}
    expected: NDArray[np.float64] = np.array([gain[text] for text in texts]) @ (p / p.sum())
    return expected


def rank_by_mbr(candidates: Sequence[Translation]) -> list[Translation]:
    """Sort the candidates by increasing risk; candidates of equal risk keep their order."""
    expected = expected_chrf([candidate.text for candidate in candidates], [candidate.score for candidate in candidates])
    return [candidates[i] for i in best_first(range(len(candidates)), lambda i: expected[i])]
