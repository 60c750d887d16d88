"""The most similar segments of a translation memory, which a human translator would start from without a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnsearch.memory import Match

_AT_ONCE = 4_000_000
"""The number of comparisons whose results are in memory at once."""


def nearest(sources: Sequence[str], segments: Sequence[tuple[str, str]]) -> list[Match]:
    """Return the most similar segment of each source, as a source and its translation; the first of several equal ones.

    There must be at least one segment. Every source is compared with every segment, some millions of pairs per second.
    """
    from rapidfuzz import fuzz, process

    scores, numbers = np.full(len(sources), -1.0), np.zeros(len(sources), dtype=np.int64)
    step = max(1, _AT_ONCE // max(1, len(sources)))
    for start in range(0, len(segments), step):
        part = [source for source, _ in segments[start : start + step]]
        similarities = process.cdist(sources, part, scorer=fuzz.ratio, dtype=np.float32, workers=-1)
        best = similarities.argmax(axis=1)
        values = similarities[np.arange(len(sources)), best]
        better = values > scores
        scores[better], numbers[better] = values[better], best[better] + start
    chosen = [segments[number] for number in numbers.tolist()]
    return [Match(source, target, round(score, 1)) for (source, target), score in zip(chosen, scores.tolist(), strict=True)]
