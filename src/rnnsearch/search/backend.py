"""How translations are written a word at a time: what search asks of a model, and the plain way to do it.

Search keeps hypotheses of many sentences, a row each. A sentence has a seat as long as it is searched for; when it is done,
another may take the seat. Search decides which hypotheses go on with which words; a `Decoding` computes what comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.ops.decoder_step import best_words
from rnnsearch.text.vocabulary import END, UNK

if TYPE_CHECKING:
    from rnnsearch.model.attention import Source
    from rnnsearch.model.rnnsearch import Hypotheses, Look, RNNsearch

Integers = NDArray[np.int64]

LOGITS = 6_000_000
"""Logits that there are at a time: 24 MB. More than 32 glibc gives back to the system, and fetches anew, page by page."""


class Shortlist(Protocol):
    """Which target words a sentence may be translated with: the most frequent, and candidates of its own."""

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
    """With a shortlist: the words that the last X columns stand for. The columns before them are the frequent words."""

    def best(self, count: int, no_end_R: NDArray[np.bool_], no_unk: bool) -> tuple[NDArray[np.float64], Integers]:
        """The `count` most probable words of each row: log p, the highest first, and the words, both (R, count).

        Without the end symbol where `no_end` is true, without `[UNK]` if `no_unk`; where fewer are left, log p is −inf. The
        logits may be overwritten: ask the other questions first.
        """
        no_end = torch.from_numpy(no_end_R).to(self.bias_V.device)
        parts = -(-self.rows * len(self.bias_V) // LOGITS)
        size = -(-self.rows // parts)
        found = [
            best_words(*self.products(part), self.bias_V, count, no_end[part], no_unk)
            for part in (slice(first, first + size) for first in range(0, self.rows, size))
        ]
        log_p_RW, words_RW = (torch.cat(of_parts) for of_parts in zip(*found, strict=True))
        return log_p_RW.double().cpu().numpy(), self._of_columns(words_RW).cpu().numpy()

    def draw(
        self, chances_RX: NDArray[np.float64], temperature: float, no_end_R: NDArray[np.bool_], no_unk: bool
    ) -> tuple[NDArray[np.float64], Integers]:
        """Words of each row, drawn with probabilities proportional to p^(1/temperature): log p and the words, both (R, X).

        `chances`, each uniform from 0 to 1, decide which. What is left out, and where nothing is left, as for `best`.
        """
        log_p_RV = self._log_p()
        log_p_RV[:, END].masked_fill_(torch.from_numpy(no_end_R).to(log_p_RV.device), -torch.inf)
        if no_unk:
            log_p_RV[:, UNK] = -torch.inf
        highest_R1 = log_p_RV.amax(1, keepdim=True)  # taken off first, a temperature next to zero leaves it alone
        up_to_RV = torch.softmax((log_p_RV - highest_R1) / temperature, 1).nan_to_num(0).cumsum(1)
        chances = torch.from_numpy(chances_RX).to(log_p_RV.device) * up_to_RV[:, -1:]
        columns_RX = torch.searchsorted(up_to_RV, chances, right=True).clamp(max=up_to_RV.shape[1] - 1)
        return log_p_RV.gather(1, columns_RX).cpu().numpy(), self._of_columns(columns_RX).cpu().numpy()

    def given(self, words_R: Integers) -> NDArray[np.float64]:
        """log p of one given word of each row; there may be no shortlist."""
        words = torch.from_numpy(words_R).to(self.bias_V.device)
        log_p_R: NDArray[np.float64] = self._log_p().gather(1, words.unsqueeze(1)).squeeze(1).cpu().numpy()
        return log_p_R

    def _log_p(self) -> Tensor:
        """log p (R, V), in double precision."""
        product_RV, factor_R = self.products(slice(None))
        logits_RV = product_RV.double() * factor_R.double().unsqueeze(1) + self.bias_V.double()
        return torch.log_softmax(logits_RV, 1)

    def _of_columns(self, columns_RX: Tensor) -> Tensor:
        """The words that some columns stand for."""
        if self.candidates_RX is None:
            return columns_RX
        frequent = len(self.bias_V) - self.candidates_RX.shape[1]
        own_RX = self.candidates_RX.gather(1, (columns_RX - frequent).clamp(min=0))
        return torch.where(columns_RX < frequent, columns_RX, own_RX)


class Decoding(Protocol):
    """One search under way."""

    def read(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        """Encode sentences, word ids with the end symbol and padding after it; they wait to be admitted."""
        ...

    def admit(self, sentences_b: Integers, seats_b: Integers) -> None:
        """Seat some of the sentences last read. The empty translation of each is a new row, after all others."""
        ...

    def look(self) -> Prediction:
        """Attend to the sources, and predict the next word of every row."""
        ...

    def write(self, parents_r: Integers, words_r: Integers) -> None:
        """Go on with these rows of the last look, each with a word. A sentence's rows stay together."""
        ...


class Stepper(Protocol):
    """A model as search sees it."""

    def begin(self, seats: int, positions: int) -> Decoding:
        """A search with so many seats, for sentences of at most so many positions, end symbol and padding included."""
        ...


class PlainStepper:
    """The model's own `start`, `look` and `write`, on any device: the yardstick of faster ways."""

    def __init__(self, model: RNNsearch, shortlist: Shortlist | None = None) -> None:
        self._model = model
        self._shortlist = shortlist

    def begin(self, seats: int, positions: int) -> PlainDecoding:
        return PlainDecoding(self._model, self._shortlist)


class PlainDecoding:
    """See `Decoding`."""

    def __init__(self, model: RNNsearch, shortlist: Shortlist | None) -> None:
        self._model, self._shortlist = model, shortlist
        self._source: Source | None = None
        """The sentences that have a seat, one under the other."""
        self._place_R = np.empty(0, np.int64)
        """Which of them each row belongs to."""
        self._hypotheses: Hypotheses | None = None
        self._allowed_BV: Tensor | None = None
        """With a shortlist: True for the words that each of them may be translated with."""

    def read(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        device = self._model.readout.b_w.device
        self._waiting = self._model.encode(x_BS.to(device), lengths_B.to(device))
        self._waiting_allowed_BV = None if self._shortlist is None else self._allowed(self._shortlist, x_BS, lengths_B)

    def admit(self, sentences_b: Integers, seats_b: Integers) -> None:
        sentences = torch.from_numpy(sentences_b).to(self._waiting.real_BS.device)
        source = self._waiting.select(sentences)
        hypotheses = self._model.start(source)
        allowed_BV = None if self._waiting_allowed_BV is None else self._waiting_allowed_BV[sentences]
        if self._source is not None and self._hypotheses is not None:
            source, hypotheses = self._source.beside(source), self._hypotheses.beside(hypotheses)
        if self._source is not None and self._allowed_BV is not None and allowed_BV is not None:
            allowed_BV = torch.cat([self._allowed_BV, allowed_BV])
        first = len(source.real_BS) - len(sentences_b)
        self._place_R = np.concatenate([self._place_R, np.arange(first, len(source.real_BS))])
        self._source, self._hypotheses, self._allowed_BV = source, hypotheses, allowed_BV

    def look(self) -> Prediction:
        assert self._source is not None
        assert self._hypotheses is not None
        places_R = torch.from_numpy(self._place_R).to(self._source.real_BS.device)
        self._look: Look = self._model.look(self._hypotheses, self._source.select(places_R))
        log_p_RV = self._look.log_p_BKV.squeeze(1)
        if self._allowed_BV is not None:
            log_p_RV = log_p_RV.masked_fill(~self._allowed_BV[places_R], -torch.inf)
        alpha_R1S = self._look.alpha_BKS
        factor_R = log_p_RV.new_ones(len(log_p_RV))
        return Prediction(
            rows=len(log_p_RV),
            products=lambda rows: (log_p_RV[rows], factor_R[rows]),
            bias_V=log_p_RV.new_zeros(log_p_RV.shape[1]),
            alpha_RS=None if alpha_R1S is None else alpha_R1S.squeeze(1),
        )

    def write(self, parents_r: Integers, words_r: Integers) -> None:
        assert self._source is not None
        device = self._source.real_BS.device
        parents, words = torch.from_numpy(parents_r).to(device), torch.from_numpy(words_r).to(device)
        self._hypotheses = self._model.write(self._look, parents, torch.zeros_like(parents).unsqueeze(1), words.unsqueeze(1))
        live, self._place_R = np.unique(self._place_R[parents_r], return_inverse=True)
        if len(live) == 0:
            self._source = None
        elif len(live) < len(self._source.real_BS):
            live_b = torch.from_numpy(live).to(device)
            self._source = self._source.select(live_b)
            self._allowed_BV = None if self._allowed_BV is None else self._allowed_BV[live_b]

    def _allowed(self, shortlist: Shortlist, x_BS: Tensor, lengths_B: Tensor) -> Tensor:
        """True for the words that each sentence may be translated with."""
        allowed_BV = torch.zeros(len(x_BS), len(self._model.readout.b_w), dtype=torch.bool)
        allowed_BV[:, : shortlist.frequent] = True
        for allowed_V, x_S, length in zip(allowed_BV, x_BS.tolist(), lengths_B.tolist(), strict=True):
            allowed_V[shortlist.candidates(x_S[: length - 1])] = True
        return allowed_BV.to(self._model.readout.b_w.device)


class Ensemble:
    """Several models with the same vocabularies as one: the mean of their probabilities, and of their attention."""

    def __init__(self, steppers: Sequence[Stepper]) -> None:
        self._steppers = steppers

    def begin(self, seats: int, positions: int) -> EnsembleDecoding:
        return EnsembleDecoding([stepper.begin(seats, positions) for stepper in self._steppers])


class EnsembleDecoding:
    """See `Decoding`."""

    def __init__(self, members: Sequence[Decoding]) -> None:
        self._members = members

    def read(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        for member in self._members:
            member.read(x_BS, lengths_B)

    def admit(self, sentences_b: Integers, seats_b: Integers) -> None:
        for member in self._members:
            member.admit(sentences_b, seats_b)

    def look(self) -> Prediction:
        predictions = [member.look() for member in self._members]
        first, alphas = predictions[0], [p.alpha_RS for p in predictions if p.alpha_RS is not None]

        def log_mean(rows: slice) -> tuple[Tensor, Tensor]:
            p_RV: Tensor | None = None
            for member in predictions:
                product_RV, factor_R = member.products(rows)
                of_member_RV = torch.softmax(product_RV * factor_R.unsqueeze(1) + member.bias_V, 1)
                p_RV = of_member_RV if p_RV is None else p_RV.add_(of_member_RV)
            assert p_RV is not None
            return p_RV.log_(), torch.ones_like(factor_R)

        return Prediction(
            rows=first.rows,
            products=log_mean,
            bias_V=torch.zeros_like(first.bias_V),
            alpha_RS=torch.stack(alphas).mean(0) if alphas else None,
            candidates_RX=first.candidates_RX,
        )

    def write(self, parents_r: Integers, words_r: Integers) -> None:
        for member in self._members:
            member.write(parents_r, words_r)
