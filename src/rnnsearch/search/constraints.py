"""Constraints on the next word: the one place where search bans and forces words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import SearchConfig
from rnnsearch.text.vocabulary import END, UNK

Integers = NDArray[np.int64]


class Constraints:
    """The constraints on the sentences in the slots of a search.

    The end symbol is banned while a translation is shorter than `search.minimum_length_ratio` demands, rounded down, and
    `[UNK]` is banned by `search.forbid_unk`; the words of a prefix are forced. Arrays are indexed by slot (Q) or by
    hypothesis (R).
    """

    def __init__(self, config: SearchConfig, slots: int) -> None:
        self._config = config
        self._shortest_Q = np.zeros(slots)
        self._prefix_Q: list[Sequence[int]] = [()] * slots
        self._prefix_length_Q = np.zeros(slots, np.int64)

    def add(self, slot: int, source_length: int, prefix: Sequence[int]) -> None:
        """Set the constraints of the sentence that takes a slot; `source_length` counts the end symbol."""
        self._shortest_Q[slot] = int(self._config.minimum_length_ratio * source_length)
        self._prefix_Q[slot], self._prefix_length_Q[slot] = prefix, len(prefix)

    def banned(self, slots_R: Integers, written_R: Integers) -> NDArray[np.bool_]:
        """Return True (R, 2) if the end symbol, or `[UNK]`, must not follow a hypothesis of `written` words."""
        # The two symbols are the first two words of the vocabulary.
        banned_RX = np.zeros((len(slots_R), 2), np.bool_)
        banned_RX[:, END] = written_R < self._shortest_Q[slots_R]
        banned_RX[:, UNK] = self._config.forbid_unk
        return banned_RX

    def forced(self, slots_R: Integers, written_R: Integers) -> tuple[Integers, Integers]:
        """Return the rows whose next word is forced, and a word for every row (R), which is defined for these rows only."""
        # A hypothesis that is shorter than its prefix continues with the next word of the prefix.
        words_R = np.zeros(len(slots_R), np.int64)
        rows = np.flatnonzero(written_R < self._prefix_length_Q[slots_R])
        for row in rows.tolist():
            words_R[row] = self._prefix_Q[slots_R[row]][written_R[row]]
        return rows, words_R


def without(
    log_p_RW: NDArray[np.float64],
    words_RW: Integers,
    count: int,
    banned_RX: NDArray[np.bool_],
    further: tuple[Integers, Integers],
) -> tuple[NDArray[np.float64], Integers]:
    """Return log p and ids, both (R, `count`), of the most probable words of each row that are not banned.

    Where no word remains, log p is −∞. `banned` is True for those of the first X words of the vocabulary that are banned;
    `further` are pairs of a row and a banned word, as two arrays.
    """
    # Mark the predicted words that are among the banned ones of the first X words.
    banned_RW = words_RW < banned_RX.shape[1]
    if banned_RW.any():
        first_RW = np.minimum(words_RW, banned_RX.shape[1] - 1)
        banned_RW &= np.take_along_axis(banned_RX, first_RW, 1)
    # Mark the predicted words that are banned in single rows.
    rows, words = further
    if len(rows):
        np.logical_or.at(banned_RW, rows, words_RW[rows] == words[:, np.newaxis])
    if banned_RW.any():
        # A stable sort moves banned words to the end of their row, and keeps the order of all others.
        order_RW = np.argsort(banned_RW, axis=1, kind="stable")
        log_p_RW = np.take_along_axis(np.where(banned_RW, -np.inf, log_p_RW), order_RW, 1)
        words_RW = np.take_along_axis(words_RW, order_RW, 1)
    return _wide(log_p_RW, count, -np.inf), _wide(words_RW, count, 0)


def _wide(array_RW: NDArray[Any], count: int, fill: float) -> NDArray[Any]:
    """Return the first `count` columns of an array, after padding it with `fill` if it has fewer."""
    if array_RW.shape[1] >= count:
        return array_RW[:, :count]
    return np.pad(array_RW, ((0, 0), (0, count - array_RW.shape[1])), constant_values=fill)
