"""The interface between search and model: the protocol of the backends, and the prediction that they return.

Search keeps the hypotheses of many sentences, one per row. Search decides which hypotheses are extended by which words; a
`SearchSession` computes the probabilities of the next words. `PlainBackend` is the reference implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class VocabularySelection(Protocol):
    """The target words allowed for a sentence: the most frequent words, and the sentence's own candidates."""

    frequent: int
    """Words with smaller ids are allowed for every sentence; these include the two symbols."""

    def candidates(self, source: Sequence[int]) -> list[int]:
        """The further words allowed for a sentence of these source words."""
        ...


@dataclass
class Prediction:
    """The next word of each of R hypotheses."""

    words_RW: Integers
    """The most probable words of each row, the most probable one first."""
    log_p_RW: NDArray[np.float64]
    """log p of these words; −∞ where a row has fewer words."""
    alpha_RS: NDArray[np.float32] | None
    """α over the source of each hypothesis; None without an alignment model."""
    log_p_RV: NDArray[np.float32] | None = None
    """log p of all words, where it was asked for."""
    ids_RV: Integers | None = None
    """With vocabulary selection, the word ids of `log_p_RV`."""

    def given(self, rows_G: Integers, words_G: Integers) -> NDArray[np.float64]:
        """log p (G) of word `words[i]` of row `rows[i]`; valid only for a whole prediction, without vocabulary selection."""
        assert self.log_p_RV is not None
        assert self.ids_RV is None
        return self.log_p_RV[rows_G, words_G].astype(np.float64)

    def draw(
        self, chances_RW: NDArray[np.float64], temperature: float, banned_RX: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Integers]:
        """W words of each row, sampled in proportion to p^(1/temperature): log p and the words, both (R, W).

        `chances` are random numbers, uniform from 0 to 1, that determine the samples. `banned` is true for those of the
        first X words that may not be chosen; log p is −∞ in rows in which no words remain. Valid only for a whole
        prediction.
        """
        assert self.log_p_RV is not None
        log_p_RV = self.log_p_RV.astype(np.float64)
        log_p_RV[:, : banned_RX.shape[1]][banned_RX] = -np.inf
        highest_R1 = log_p_RV.max(1, keepdims=True)  # subtracted so that it stays finite at a temperature near zero
        highest_R1[np.isneginf(highest_R1)] = 0
        with np.errstate(over="ignore"):  # at a temperature of next to nothing
            up_to_RV = np.exp((log_p_RV - highest_R1) / temperature).cumsum(1)
        chances_RW = chances_RW * up_to_RV[:, -1:]
        columns_RW = np.stack([np.searchsorted(*pair, side="right") for pair in zip(up_to_RV, chances_RW, strict=True)])
        columns_RW = np.minimum(columns_RW, log_p_RV.shape[1] - 1)
        words_RW = columns_RW if self.ids_RV is None else np.take_along_axis(self.ids_RV, columns_RW, 1)
        return np.take_along_axis(log_p_RV, columns_RW, 1), words_RW


def best_words(log_p_RV: NDArray[np.float32], count: int) -> tuple[NDArray[np.float64], Integers]:
    """The `count` highest log p of each row, the highest first, and their columns; fewer where there are fewer columns."""
    count = min(count, log_p_RV.shape[1])
    best_RW = np.argpartition(log_p_RV, -count, axis=1)[:, -count:] if count < log_p_RV.shape[1] else None
    if best_RW is None:
        best_RW = np.broadcast_to(np.arange(count), (len(log_p_RV), count))
    best_log_p_RW = np.take_along_axis(log_p_RV, best_RW, 1)
    order_RW = np.lexsort((best_RW, -best_log_p_RW), axis=1)
    return np.take_along_axis(best_log_p_RW, order_RW, 1).astype(np.float64), np.take_along_axis(best_RW, order_RW, 1)


class SearchSession(Protocol):
    """The state of one search in a backend."""

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        """Encode sentences, word ids (B, S) with the end symbol and padding after it, and lengths (B), for `add`."""
        ...

    def add(self, sentences_b: Integers) -> None:
        """Begin to translate some of the sentences last encoded: each adds a row, its empty translation, at the end."""
        ...

    def predict(self, count: int, whole: bool = False) -> Prediction:
        """Attend to the sources and predict the next word of every row: the `count` most probable ones, and with `whole`
        all of them.
        """
        ...

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        """Extend the given rows of the last prediction, each by one word. The rows of a sentence are adjacent, and a
        sentence without a row is done.
        """
        ...


class Backend(Protocol):
    """A model, or an ensemble, as used by search."""

    def session(self) -> SearchSession:
        """Start a search."""
        ...

    def has_room(self, rows: int, positions: int) -> bool:
        """Whether so many hypotheses, of sentences of so many positions at most, are searched for together: beyond some
        number, search would take too much memory, or become slower by a row.
        """
        ...
