"""The suppression of repetition loops, in which a hypothesis repeats words that its source does not repeat.

Of 35,000 English and French sentences by human translators, one in 2,000 contains a sequence of three subwords more than
three times, or of five more than twice, although the other language does not repeat as many as often. A hypothesis in a loop
contains such a sequence dozens of times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

LIMITS = {3: 3, 5: 2}
"""For each length, the largest number of occurrences of a sequence of words, unless the source repeats as many as often."""
WINDOW = 200
"""The number of last words of a hypothesis in which repetitions are counted."""
_NO_WORD = -1


def limits(source: Sequence[int]) -> list[int]:
    """Return the largest number of occurrences of a sequence in translations of this source, for each length in `LIMITS`."""
    return [max(limit, _most_repeated(source, length)) for length, limit in LIMITS.items()]


def breaks_limits(source: Sequence[int], target: Sequence[int]) -> bool:
    """Return whether a translation contains a sequence more often than its source permits."""
    pairs = zip(LIMITS, limits(source), strict=True)
    return any(_most_repeated(target, length) > limit for length, limit in pairs)


def _most_repeated(words: Sequence[int], length: int) -> int:
    """Return the number of occurrences of the most frequent sequence of `length` words."""
    counts = Counter(zip(*(words[first:] for first in range(length)), strict=False))
    return max(counts.values(), default=0)


class Repetition:
    """The words of each hypothesis of a search, and the next words that would repeat a sequence too often.

    Arrays are indexed by hypothesis (R), by word from the newest to the oldest (T), and by the N lengths in `LIMITS`.
    """

    def __init__(self) -> None:
        self._words_RT: Integers = np.empty((0, 0), np.int64)
        """The words of each hypothesis, the newest first, and `_NO_WORD` behind the oldest."""
        self._limits_RN: Integers = np.empty((0, len(LIMITS)), np.int64)

    def add(self, source: Sequence[int]) -> None:
        """Begin a hypothesis of this source, after all others."""
        self._words_RT = np.pad(self._words_RT, ((0, 1), (0, 0)), constant_values=_NO_WORD)
        self._limits_RN = np.concatenate([self._limits_RN, [limits(source)]])

    def advance(self, parents: Integers, words: Integers) -> None:
        """Extend these hypotheses by one word each, and drop the others."""
        # The new word comes first; columns in which no hypothesis has a word are dropped.
        words_RT = np.concatenate([words[:, np.newaxis], self._words_RT[parents, : WINDOW - 1]], 1)
        while (words_RT[:, -1] == _NO_WORD).all() and words_RT.shape[1] > 1:
            words_RT = words_RT[:, :-1]
        self._words_RT, self._limits_RN = words_RT, self._limits_RN[parents]

    def too_often(self) -> tuple[Integers, Integers]:
        """Return the banned next words of the hypotheses as distinct pairs of a row and a word."""
        found: set[tuple[int, int]] = set()
        words_RT, rows = self._words_RT, np.arange(len(self._words_RT))
        same_RT = np.ones((len(rows), max(0, words_RT.shape[1] - 1)), np.bool_)
        # The last `back` + 1 words are compared with those that end at every earlier place. Where they are the same, the
        # word that followed there would complete a repetition of `back` + 2 words if it came next.
        for back in range(max(LIMITS) - 1):
            # same[r, t] is True if the last `back` + 1 words of r are also those that end at the word t + 1.
            same_RT = same_RT[:, : words_RT.shape[1] - 1 - back]
            same_RT = same_RT & (words_RT[:, 1 + back :] == words_RT[:, back : back + 1])
            # A hypothesis whose last words occur too rarely cannot exceed a limit with longer sequences either.
            is_frequent_R = same_RT.sum(1) >= min(LIMITS.values())
            if not is_frequent_R.any():
                break
            words_RT, same_RT, rows = words_RT[is_frequent_R], same_RT[is_frequent_R], rows[is_frequent_R]
            if back + 2 in LIMITS:
                # Count the words that followed the earlier occurrences; those that have reached the limit are banned.
                limit_R = self._limits_RN[rows, [*LIMITS].index(back + 2)]
                for i in np.flatnonzero((same_RT.sum(1) >= limit_R) & (words_RT[:, back] != _NO_WORD)).tolist():
                    counts = Counter(words_RT[i, : same_RT.shape[1]][same_RT[i]].tolist())
                    found.update((int(rows[i]), word) for word, count in counts.items() if count >= limit_R[i])
        pairs = np.array(sorted(found), np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]
