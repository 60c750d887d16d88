"""Which words may be written next: the one place where search bans words and forces them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import SearchConfig
from rnnsearch.text.vocabulary import END, UNK

Integers = NDArray[np.int64]


class Constraints:
    """Of the sentences in the slots of a search: the end symbol is banned while a translation is too short, and `[UNK]` by
    `search.forbid_unk`; the words of a given prefix are forced."""

    def __init__(self, config: SearchConfig, slots: int) -> None:
        self._config = config
        self._shortest_Q = np.zeros(slots)
        self._prefix_Q: list[Sequence[int]] = [()] * slots
        self._any_prefix = False

    def add(self, slot: int, source_length: int, prefix: Sequence[int]) -> None:
        """A sentence takes a slot; its length counts the end symbol."""
        self._shortest_Q[slot] = self._config.minimum_length_ratio * source_length
        self._prefix_Q[slot] = prefix
        self._any_prefix = self._any_prefix or len(prefix) > 0

    def banned(self, slots_R: Integers, written_R: Integers) -> NDArray[np.bool_]:
        """True (R, 2) where hypotheses that have so many words may not go on with the end symbol or with `[UNK]`."""
        banned_RX = np.zeros((len(slots_R), 2), np.bool_)
        banned_RX[:, END] = written_R < self._shortest_Q[slots_R]
        banned_RX[:, UNK] = self._config.forbid_unk
        return banned_RX

    def forced(self, slots_R: Integers, written_R: Integers) -> tuple[Integers, Integers]:
        """The rows whose next word is given, and a word for every row, which means something for these rows only."""
        rows, words_R = [], np.zeros(len(slots_R), np.int64)
        if self._any_prefix:
            for row, (slot, written) in enumerate(zip(slots_R.tolist(), written_R.tolist(), strict=True)):
                prefix = self._prefix_Q[slot]
                if written < len(prefix):
                    rows.append(row)
                    words_R[row] = prefix[written]
        return np.array(rows, np.int64), words_R
