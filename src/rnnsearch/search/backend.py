"""The interface between search and model: the protocol of the backends, and the prediction that they return.

Search keeps the hypotheses of many sentences, one per row. A sentence occupies a slot until its search is done; another
sentence may then take the slot. Search decides which hypotheses are extended by which words; a `SearchSession` computes the
probabilities of the next words. `PlainBackend` is the reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.ops.decoder_step import best_words

Integers = NDArray[np.int64]

LOGITS = 6_000_000
"""Maximum number of logits in memory: 24 MB. glibc returns freed blocks of more than 32 MB to the system."""


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

    rows: int
    """R."""
    products: Callable[[slice], tuple[Tensor, Tensor]]
    """For the given rows, a matrix product (R, V) and a factor (R)."""
    bias_V: Tensor
    """The logits are factor ∘ product + bias, up to a constant per row."""
    alpha_RS: Tensor | None
    """α over the source of each hypothesis; None without an alignment model."""
    candidates_RX: Tensor | None = None
    """With vocabulary selection, the word ids of the last X columns; the columns before them are the frequent words."""

    def best(self, count: int, banned_RX: NDArray[np.bool_]) -> tuple[NDArray[np.float64], Integers]:
        """The W = `count` most probable words of each row: log p, the highest first, and the words, both (R, W).

        `banned` is true for those of the first X words that may not be chosen. If fewer than W words remain, the other log p
        are −inf. This method may overwrite the logits: call the other methods first.
        """
        banned = torch.from_numpy(banned_RX).to(self.bias_V.device)
        found = [best_words(*self.products(part), self.bias_V, count, banned[part]) for part in self._parts()]
        log_p_RW, words_RW = (torch.cat(tensors) for tensors in zip(*found, strict=True))
        return log_p_RW.double().cpu().numpy(), self._words(words_RW).cpu().numpy()

    def best_and_given(
        self, count: int, banned_RX: NDArray[np.bool_], rows_G: Integers, words_G: Integers
    ) -> tuple[NDArray[np.float64], Integers, NDArray[np.float64]]:
        """As `best`, and log p (G) of given words: word `words[i]` of row `rows[i]`, banned or not.

        Valid only without vocabulary selection.
        """
        device = self.bias_V.device
        banned, rows, words = (torch.from_numpy(array).to(device) for array in (banned_RX, rows_G, words_G))
        found, log_p_G = [], self.bias_V.new_empty(len(rows))
        for part in self._parts():
            logits_RV, factor_R = self.products(part)
            here = ((rows >= part.start) & (rows < part.stop)).nonzero().squeeze(1)
            rows_g, words_g = rows[here] - part.start, words[here]
            logits_g = torch.addcmul(self.bias_V[words_g], logits_RV[rows_g, words_g], factor_R[rows_g])
            found.append(best_words(logits_RV, factor_R, self.bias_V, count, banned[part]))
            # Two words of a row differ in log p as they differ in their logits, and the best word's log p is known.
            best_log_p_g, best_g = (values_RW[rows_g, 0] for values_RW in found[-1])
            log_p_G[here] = best_log_p_g + (logits_g - logits_RV[rows_g, best_g])
        log_p_RW, words_RW = (torch.cat(tensors) for tensors in zip(*found, strict=True))
        return log_p_RW.double().cpu().numpy(), words_RW.cpu().numpy(), log_p_G.double().cpu().numpy()

    def _parts(self) -> Iterator[slice]:
        """The rows, so many at a time that their logits fit into memory."""
        parts = -(-self.rows * len(self.bias_V) // LOGITS)
        size = -(-self.rows // parts)
        return (slice(first, first + size) for first in range(0, self.rows, size))

    def draw(
        self, chances_RW: NDArray[np.float64], temperature: float, banned_RX: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Integers]:
        """W words of each row, sampled in proportion to p^(1/temperature): log p and the words, both (R, W).

        `chances` are random numbers, uniform from 0 to 1, that determine the samples. `banned`, and rows in which no words
        remain, are as for `best`.
        """
        log_p_RV = self._log_p()
        banned = torch.from_numpy(banned_RX).to(log_p_RV.device)
        log_p_RV[:, : banned.shape[1]].masked_fill_(banned, -torch.inf)
        highest_R1 = log_p_RV.amax(1, keepdim=True)  # subtracted so that it stays finite at a temperature near zero
        up_to_RV = torch.softmax((log_p_RV - highest_R1) / temperature, 1).nan_to_num(0).cumsum(1)
        chances = torch.from_numpy(chances_RW).to(log_p_RV.device) * up_to_RV[:, -1:]
        columns_RW = torch.searchsorted(up_to_RV, chances, right=True).clamp(max=up_to_RV.shape[1] - 1)
        return log_p_RV.gather(1, columns_RW).cpu().numpy(), self._words(columns_RW).cpu().numpy()

    def given(self, words_R: Integers) -> NDArray[np.float64]:
        """log p (R) of one given word of each row; valid only without vocabulary selection."""
        words = torch.from_numpy(words_R).to(self.bias_V.device)
        log_p_R: NDArray[np.float64] = self._log_p().gather(1, words.unsqueeze(1)).squeeze(1).cpu().numpy()
        return log_p_R

    def _log_p(self) -> Tensor:
        """log p (R, V), in double precision."""
        product_RV, factor_R = self.products(slice(None))
        logits_RV = product_RV.double() * factor_R.double().unsqueeze(1) + self.bias_V.double()
        return torch.log_softmax(logits_RV, 1)

    def _words(self, columns_RW: Tensor) -> Tensor:
        """The word ids of the given columns."""
        if self.candidates_RX is None:
            return columns_RW
        frequent = len(self.bias_V) - self.candidates_RX.shape[1]
        candidates_RW = self.candidates_RX.gather(1, (columns_RW - frequent).clamp(min=0))
        return torch.where(columns_RW < frequent, columns_RW, candidates_RW)


class SearchSession(Protocol):
    """The state of one search in a backend."""

    def encode(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        """Encode sentences, word ids (B, S) with the end symbol and padding after it, and lengths (B), for `add`."""
        ...

    def add(self, sentences_b: Integers, slots_b: Integers) -> None:
        """Assign slots to some of the sentences last encoded. Each adds a row, its empty translation, after all others."""
        ...

    def predict(self) -> Prediction:
        """Attend to the sources and predict the next word of every row."""
        ...

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        """Extend the given rows of the last prediction, each by one word. The rows of a sentence are adjacent."""
        ...


class Backend(Protocol):
    """A model, or an ensemble, as used by search."""

    def session(self, slots: int, positions: int) -> SearchSession:
        """Start a search in `slots` slots, for sentences of at most `positions` positions with end symbol and padding."""
        ...
