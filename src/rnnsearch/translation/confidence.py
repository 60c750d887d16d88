"""The confidence of a model in a translation."""

from __future__ import annotations

import math


def confidence(score: float, words: int, missing: int = 0) -> float:
    """Return the geometric mean of the probabilities of `words` words and the end symbol, halved for each missing number.

    `score` is the sum of the logarithms of the probabilities, and `missing` the count of numbers that are missing.
    """
    return round(math.ldexp(math.exp(score / (words + 1)), -missing), 4)
