"""Coverage: finds the source words that no target word attends to, which the translation may have left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.1
"""A target word i attends to those source words j that have at least this weight α_ij."""


def unread_words(alignment: NDArray[np.floating]) -> list[int]:
    """Return the positions of the source words that no target word attends to.

    `alignment` is target words × source words, with the end symbol of the source, which is not a word, in the last column.
    """
    words = alignment[:, :-1]
    if len(words) == 0:
        return list(range(words.shape[1]))
    return [int(position) for position in np.flatnonzero(words.max(axis=0) < THRESHOLD)]
