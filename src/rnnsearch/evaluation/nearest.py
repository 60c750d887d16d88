"""The nearest segments of a translation memory, which a translator would start from without a machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnsearch.memory import Match

_AT_ONCE = 4_000_000
"""The number of comparisons whose results are in memory at once."""


def nearest(sources: Sequence[str], segments: Sequence[tuple[str, str]]) -> list[Match]:
    """Return for each source the segment, a source and its translation, that is most similar; the first of several.

    There has to be a segment. All are compared, in all threads: some millions of pairs each second.
    """
    from rapidfuzz import fuzz, process

    scores, numbers = np.full(len(sources), -1.0), np.zeros(len(sources), dtype=np.int64)
    step = max(1, _AT_ONCE // max(1, len(sources)))
    for start in range(0, len(segments), step):
        part = [source for source, _ in segments[start : start + step]]
        found = process.cdist(sources, part, scorer=fuzz.ratio, dtype=np.float32, workers=-1)
        best = found.argmax(axis=1)
        values = found[np.arange(len(sources)), best]
        better = values > scores
        scores[better], numbers[better] = values[better], best[better] + start
    chosen = [segments[number] for number in numbers.tolist()]
    return [Match(source, target, round(score, 1)) for (source, target), score in zip(chosen, scores.tolist(), strict=True)]
