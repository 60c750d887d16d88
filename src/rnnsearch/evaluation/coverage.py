"""What of a source sentence was read: words that no target word attended to are words that may have been left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

READ = 0.1
"""A source word counts as read if some target word gave it at least this much of its attention."""


def unread_words(alignment: NDArray[np.floating]) -> list[int]:
    """The positions of the source words that no target word attended to.

    `alignment` is target words × source words, the source's end symbol in the last column, which is no word.
    """
    words = alignment[:, :-1]
    if len(words) == 0:
        return list(range(words.shape[1]))
    return [int(position) for position in np.flatnonzero(words.max(axis=0) < READ)]
