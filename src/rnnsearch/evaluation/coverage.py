"""Coverage: the source words that no target word attended to are those that a translation may have left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.1
"""A target word attends to the source words that have at least this weight α_ij in its context."""


def unread_words(alignment: NDArray[np.floating]) -> list[int]:
    """The positions of the source words that no target word attended to.

    `alignment` is target words × source words, with the source's end symbol, which is not a word, in the last column.
    """
    words = alignment[:, :-1]
    if len(words) == 0:
        return list(range(words.shape[1]))
    return [int(position) for position in np.flatnonzero(words.max(axis=0) < THRESHOLD)]
