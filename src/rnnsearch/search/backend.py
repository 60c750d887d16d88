"""What search asks of a model: the protocol of its backends, and the prediction that they return.

Search keeps the hypotheses of many sentences, a row each. A sentence has a slot as long as it is searched for; when it is
done, another sentence may take the slot. Search decides which hypotheses go on with which words; a `SearchSession` computes
what comes next. `PlainBackend` is the reference of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.ops.decoder_step import best_words

Integers = NDArray[np.int64]

LOGITS = 6_000_000
"""Logits that exist at a time: 24 MB. glibc returns blocks of more than 32 MB to the system and requests them anew."""


class VocabularySelection(Protocol):
    """Which target words a sentence may be translated with: the most frequent ones, and candidates of its own."""

    frequent: int
    """The words with smaller ids are open to every sentence, the two symbols among them."""

    def candidates(self, source: Sequence[int]) -> list[int]:
        """Further words, for a sentence of these source words."""
        ...


@dataclass
class Prediction:
    """The next word of each of R hypotheses."""

    rows: int
    """R."""
    products: Callable[[slice], tuple[Tensor, Tensor]]
    """Of some of the rows: a product (R, V) and a factor (R)."""
    bias_V: Tensor
    """The logits are factor ∘ product + bias, up to a constant of the row."""
    alpha_RS: Tensor | None
    """α, on each hypothesis's own source."""
    candidates_RX: Tensor | None = None
    """With vocabulary selection: the words that the last X columns stand for. The columns before are the frequent words."""

    def best(self, count: int, banned_RX: NDArray[np.bool_]) -> tuple[NDArray[np.float64], Integers]:
        """The `count` most probable words of each row: log p, the highest first, and the words, both (R, W).

        `banned` is true for those of the first X words that may not be chosen. Where fewer words are left, log p is −inf.
        The logits may be overwritten: ask the other questions first.
        """
        banned = torch.from_numpy(banned_RX).to(self.bias_V.device)
        parts = -(-self.rows * len(self.bias_V) // LOGITS)
        size = -(-self.rows // parts)
        found = [
            best_words(*self.products(part), self.bias_V, count, banned[part])
            for part in (slice(first, first + size) for first in range(0, self.rows, size))
        ]
        log_p_RW, words_RW = (torch.cat(of_parts) for of_parts in zip(*found, strict=True))
        return log_p_RW.double().cpu().numpy(), self._words(words_RW).cpu().numpy()

    def draw(
        self, chances_RW: NDArray[np.float64], temperature: float, banned_RX: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], Integers]:
        """Words of each row, drawn with probabilities proportional to p^(1/temperature): log p and the words, both (R, W).

        `chances`, each uniform from 0 to 1, decide which. What is banned, and where nothing is left, as for `best`.
        """
        log_p_RV = self._log_p()
        banned = torch.from_numpy(banned_RX).to(log_p_RV.device)
        log_p_RV[:, : banned.shape[1]].masked_fill_(banned, -torch.inf)
        highest_R1 = log_p_RV.amax(1, keepdim=True)  # subtracted first, a temperature next to zero leaves it alone
        up_to_RV = torch.softmax((log_p_RV - highest_R1) / temperature, 1).nan_to_num(0).cumsum(1)
        chances = torch.from_numpy(chances_RW).to(log_p_RV.device) * up_to_RV[:, -1:]
        columns_RW = torch.searchsorted(up_to_RV, chances, right=True).clamp(max=up_to_RV.shape[1] - 1)
        return log_p_RV.gather(1, columns_RW).cpu().numpy(), self._words(columns_RW).cpu().numpy()

    def given(self, words_R: Integers) -> NDArray[np.float64]:
        """log p of one given word of each row; only without vocabulary selection."""
        words = torch.from_numpy(words_R).to(self.bias_V.device)
        log_p_R: NDArray[np.float64] = self._log_p().gather(1, words.unsqueeze(1)).squeeze(1).cpu().numpy()
        return log_p_R

    def _log_p(self) -> Tensor:
        """log p (R, V), in double precision."""
        product_RV, factor_R = self.products(slice(None))
        logits_RV = product_RV.double() * factor_R.double().unsqueeze(1) + self.bias_V.double()
        return torch.log_softmax(logits_RV, 1)

    def _words(self, columns_RW: Tensor) -> Tensor:
        """The words that some columns stand for."""
        if self.candidates_RX is None:
            return columns_RW
        frequent = len(self.bias_V) - self.candidates_RX.shape[1]
        own_RW = self.candidates_RX.gather(1, (columns_RW - frequent).clamp(min=0))
        return torch.where(columns_RW < frequent, columns_RW, own_RW)


class SearchSession(Protocol):
    """One search under way."""

    def encode(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        """Encode sentences, word ids with the end symbol and padding after it; they wait to be added."""
        ...

    def add(self, sentences_b: Integers, slots_b: Integers) -> None:
        """Give slots to some of the sentences last encoded. The empty translation of each is a new row, after all others."""
        ...

    def predict(self) -> Prediction:
        """Attend to the sources, and predict the next word of every row."""
        ...

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        """Go on with these rows of the last prediction, each with a word. A sentence's rows stay together."""
        ...


class Backend(Protocol):
    """A model as search sees it."""

    def session(self, slots: int, positions: int) -> SearchSession:
        """A search with so many slots, for sentences of at most so many positions, end symbol and padding included."""
        ...
