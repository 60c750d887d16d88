"""The interface between search and model: the protocol of the backends, and the prediction that they return.

Search keeps the hypotheses of many sentences, one per row. Search decides which hypotheses are extended by which words; a
`SearchSession` computes the probabilities of the next words. `PlainBackend` is the reference implementation. The letters of
array names are those of `rnnsearch.model`: R hypotheses, W predicted words of each, V words of the vocabulary, S source
positions.
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
        """Return the ids of the further target words that are allowed for a sentence of these source word ids."""
        ...


@dataclass
class Prediction:
    """The next word of each of R hypotheses."""

    words_RW: Integers
    """The most probable words of each row, the most probable one first."""
    log_p_RW: NDArray[np.float64]
    """log p of these words, in nats; −∞ where a row has fewer words."""
    alpha_RS: NDArray[np.float32] | None
    """α over the source of each hypothesis; None without an alignment model."""
    log_p_RV: NDArray[np.float32] | None = None
    """log p of all words; None unless the whole distribution was requested."""
    ids_RV: Integers | None = None
    """With vocabulary selection, the word ids of `log_p_RV`."""

    def log_p_of(self, rows_G: Integers, words_G: Integers) -> NDArray[np.float64]:
        """Return log p (G) of the word `words[i]` in the row `rows[i]`, for each i.

        The prediction must be a whole one, without vocabulary selection.
        """
        assert self.log_p_RV is not None
        assert self.ids_RV is None
        return self.log_p_RV[rows_G, words_G].astype(np.float64)

    def draw(
        self, chances_RW: NDArray[np.float64], temperature: float, banned_RX: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Integers]:
        """Sample W words of each row in proportion to p^(1/temperature); return their log p and the words, both (R, W).

        `chances` are random numbers, uniform from 0 to 1, that determine the samples. `banned` is True for those of the
        first X words that must not be sampled; log p is −∞ in rows in which no word remains. The prediction must be a whole
        one.
        """
        assert self.log_p_RV is not None
        log_p_RV = self.log_p_RV.astype(np.float64)
        log_p_RV[:, : banned_RX.shape[1]][banned_RX] = -np.inf
        # Subtracting the highest log p keeps the exponential finite at a temperature near zero.
        highest_R1 = log_p_RV.max(1, keepdims=True)
        highest_R1[np.isneginf(highest_R1)] = 0
        # The cumulative distribution of each row, not normalised. A temperature of almost zero may overflow the quotient.
        with np.errstate(over="ignore"):
            up_to_RV = np.exp((log_p_RV - highest_R1) / temperature).cumsum(1)
        # Inverse transform sampling: the word of a sample is the first whose cumulative probability exceeds the chance.
        chances_RW = chances_RW * up_to_RV[:, -1:]
        columns_RW = np.stack([np.searchsorted(*pair, side="right") for pair in zip(up_to_RV, chances_RW, strict=True)])
        columns_RW = np.minimum(columns_RW, log_p_RV.shape[1] - 1)
        # With vocabulary selection, a column is a place among the selected words.
        words_RW = columns_RW if self.ids_RV is None else np.take_along_axis(self.ids_RV, columns_RW, 1)
        return np.take_along_axis(log_p_RV, columns_RW, 1), words_RW


def best_words(log_p_RV: NDArray[np.float32], count: int) -> tuple[NDArray[np.float64], Integers]:
    """Return the `count` highest log p of each row, the highest first, and their columns, both (R, W).

    W is less than `count` if there are fewer columns. Equal values are in the order of their columns.
    """
    # Partition first, because sorting whole rows of a large vocabulary is slow; then sort the best values alone.
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
        """Encode the sentences that `add` may begin: word ids (B, S) with the end symbol and padding, and lengths (B)."""
        ...

    def add(self, sentences_b: Integers) -> None:
        """Begin some of the sentences (b) of the last `encode`: each appends a row, its empty translation."""
        ...

    def predict(self, count: int, whole: bool = False) -> Prediction:
        """Attend to the sources and predict the next word of every row: its `count` most probable words.

        With `whole`, the prediction also contains the log p of all words.
        """
        ...

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        """Extend the rows `parents` (r) of the last prediction by one word (r) each; the results are the new rows.

        The rows of a sentence are adjacent, and a sentence without a row is finished.
        """
        ...


class Backend(Protocol):
    """A model, or an ensemble, as used by search."""

    def session(self) -> SearchSession:
        """Start a search."""
        ...

    def has_room(self, rows: int, positions: int) -> bool:
        """Return whether this many hypotheses, of sentences of at most this many positions, are searched in parallel.

        Beyond some number, search would need too much memory, or the time per hypothesis would grow.
        """
        ...
