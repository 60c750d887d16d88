"""The fast way to write translations on a CPU: the same function, arranged for few rows and many steps.

- The context enters linearly, so [C; C_o] h_j is computed once a sentence, and [C; C_o] c_i = Σ_j α_ij [C; C_o] h_j is a
  weighted sum. All hypotheses of a sentence share it.
- [W; V_o] E y (+ b, b_o) depends on the word alone, and is kept: a row for every word that has been written before.
- [U_z; U_r; W_a; U_o] s is one product of a new state.
- Weights are laid out once a model (`packed`), as float32, which loses nothing, or as int8.
- With a shortlist, W_o is multiplied for the frequent words, and for each sentence's own candidates.

Letters are those of `rnnsearch.model` and `decoder_step`. `M` is the width of a state's products: what the cell needs,
then the query (A), then U_o s (2L). `Y` is that of the products of a context or a word: all gates (G), then 2L.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rnnsearch.ops import decoder_step
from rnnsearch.ops.packed import WeightPrecision, packed
from rnnsearch.search.backend import Integers, Prediction, Shortlist
from rnnsearch.search.fast_cells import Recurrent, recurrence

if TYPE_CHECKING:
    from rnnsearch.model.encoder import Encoder
    from rnnsearch.model.layers import DecoderLayer, EncoderLayer
    from rnnsearch.model.rnnsearch import RNNsearch

BLOCK = 128
"""Frequent words, candidates and what fills them up are a multiple of so many columns. Compiled sums take so many numbers at
a time, or a fraction; what fills up adds nothing, so that a sum does not depend on the candidates of other sentences."""

KEPT_WORDS = 8192
"""Words whose products are kept at a time: 128 MB at the paper's size, if so many are written."""


class FastStepper:
    """A model's weights, laid out for search on a CPU; the model's later changes do not reach it. See `Stepper`.

    Takes as much memory again as the model's weights, or, with int8, a quarter of it.
    """

    @torch.inference_mode()
    def __init__(self, model: RNNsearch, precision: WeightPrecision = "fp32", shortlist: Shortlist | None = None) -> None:
        encoder, decoder, readout = model.encoder, model.decoder, model.readout
        weights = dict(decoder.alignment.named_parameters())  # none in RNNencdec
        W_a, U_a, v_a = (weights.get(name) for name in ("W_a", "U_a", "v_a"))
        self.generates_first = model.generates_first
        self.cell = decoder.cell
        self.shortlist = shortlist

        self.E_source = encoder.E.detach()
        self.encoder = _EncoderLayer(encoder, precision)
        self.encoders_above = [(layer.norm, _EncoderLayer(layer, precision)) for layer in encoder.above]
        self.norm_annotations = encoder.norm

        self.first_state = packed(decoder.W_s, decoder.b_s, precision)
        self.above = [_DecoderLayer(layer, readout.U_o, precision) for layer in decoder.above]
        of_layers = [layer.cell.stacked("C") for layer in decoder.above]
        self.from_context = packed(torch.cat([self.cell.stacked("C"), readout.C_o, *of_layers]), precision=precision)
        self.gates = len(self.cell.stacked("C"))
        self.v_a = None if v_a is None else v_a.detach()
        self.keys = None if U_a is None else packed(U_a, precision=precision)

        self.recurrence = recurrence(self.cell, precision)
        query = [] if W_a is None else [W_a]
        self.from_state = packed(torch.cat([self.recurrence.from_state, *query, readout.U_o]), precision=precision)
        self.query = len(self.recurrence.from_state)
        """Where the query begins in the products of a state."""
        self.words = _Words(model, precision)

        frequent = len(readout.b_w) if shortlist is None else min(shortlist.frequent, len(readout.b_w))
        self.maxout_width = len(readout.b_o)
        self.norm_maxout = readout.norm
        self.from_maxout = packed(readout.W_o[:frequent], precision=precision)
        self.W_o, self.b_w = readout.W_o.detach(), readout.b_w.detach()
        self.frequent = frequent

    def begin(self, seats: int, positions: int) -> FastDecoding:
        return FastDecoding(self, seats, positions)


class _EncoderLayer:
    """A layer of the encoder, one direction or both."""

    def __init__(self, layer: Encoder | EncoderLayer, precision: WeightPrecision) -> None:
        self.forwards = Recurrent(layer.forward_cell, precision)
        self.backwards = None if layer.backward_cell is None else Recurrent(layer.backward_cell, precision)

    def run(self, x_XE: Tensor, rows_SB: Tensor, real_SB1: Tensor) -> Tensor:
        """[h→_j ; h←_j] (S, B, C); every position reads a row of x."""
        h_SBC = self.forwards.run(x_XE, rows_SB, real_SB1)
        if self.backwards is not None:
            h_SBC = torch.cat([h_SBC, self.backwards.run(x_XE, rows_SB, real_SB1, backward=True)], 2)
        return h_SBC


class _DecoderLayer:
    """A further layer of the decoder, and its part U_o u of the readout."""

    def __init__(self, layer: DecoderLayer, U_o: Tensor, precision: WeightPrecision) -> None:
        self.cell, self.norm = layer.cell, layer.norm
        bias_G = layer.cell.project_input(U_o.new_zeros(layer.cell.hidden_size))
        self.from_below = packed(layer.cell.stacked("W"), bias_G, precision)
        self.recurrence = recurrence(layer.cell, precision)
        self.from_state = packed(self.recurrence.from_state, precision=precision)
        self.to_readout = packed(U_o, precision=precision)

    def step(self, state_RD: Tensor, s_RN: Tensor, context_RG: Tensor) -> Tensor:
        """u_i from u_{i−1}, from what is below, and from the products of the contexts: states (R, D)."""
        rows_R = torch.arange(len(s_RN))
        projected_RM = self.from_state(self.cell.hidden(state_RD).contiguous())
        inputs_RG = self.from_below(self.norm(s_RN).contiguous())
        return self.recurrence.step(state_RD, projected_RM, context_RG.contiguous(), rows_R, inputs_RG, rows_R)


class _Words:
    """[W; V_o] E y + [b; b_o] of target words, a row each; those that are asked for are computed, and kept.

    The word before the first has the embedding zero; its number is V.
    """

    def __init__(self, model: RNNsearch, precision: WeightPrecision) -> None:
        decoder, readout = model.decoder, model.readout
        self._E_VE = decoder.E.detach()
        self.none = len(self._E_VE)
        bias_Y = torch.cat([decoder.cell.project_input(self._E_VE.new_zeros(self._E_VE.shape[1])), readout.b_o])
        self._product = packed(torch.cat([decoder.cell.stacked("W"), readout.V_o]), bias_Y, precision)
        self._width = len(bias_Y)
        self._lock = threading.Lock()
        self._clear(KEPT_WORDS)

    def rows(self, words_R: Integers) -> tuple[Tensor, Tensor]:
        """A table, and the rows in it that belong to these words, int64."""
        with self._lock:
            rows_R = self._row_of[words_R]
            is_missing_R = rows_R < 0
            if not is_missing_R.any():
                return self._table, torch.from_numpy(rows_R)
            missing = np.unique(words_R[is_missing_R])
            if self._kept + len(missing) > len(self._table):
                missing = np.unique(words_R)
                self._clear(max(KEPT_WORDS, len(missing)))
            new = slice(self._kept, self._kept + len(missing))
            self._table[new] = self._product(self._embedded(missing))
            self._row_of[missing] = np.arange(new.start, new.stop)
            self._kept += len(missing)
            return self._table, torch.from_numpy(self._row_of[words_R])

    def _clear(self, capacity: int) -> None:
        # A new table: another search may still be reading the old one.
        self._table = self._E_VE.new_empty(min(capacity, self.none + 1), self._width)
        self._row_of = np.full(self.none + 1, -1, np.int64)
        self._kept = 0

    def _embedded(self, words_R: Integers) -> Tensor:
        words = torch.from_numpy(words_R)
        y_RE = self._E_VE[words.clamp(max=self.none - 1)]
        return y_RE.masked_fill_((words == self.none).unsqueeze(1), 0)


@dataclass
class _Waiting:
    """Sentences that have been read: what search needs of each."""

    lengths_B: Tensor
    keys_BSA: Tensor | None
    values_BSY: Tensor
    """[C; C_o] h_j, then C h_j of further layers. RNNencdec has its one context as if it were the only position."""
    state_BD: Tensor
    projected_BM: Tensor
    """s_0, and its products."""
    candidates: list[list[int]]
    """With a shortlist: the sentence's own."""


class FastDecoding:
    """One search; see `Decoding`."""

    def __init__(self, stepper: FastStepper, seats: int, positions: int) -> None:
        self._stepper = stepper
        self._seats, self._positions = seats, positions
        self._seats_R = torch.empty(0, dtype=torch.int64)
        self._words_R = np.empty(0, np.int64)
        self._above_RD: list[Tensor] = []
        self._candidates: list[list[int]] = [[]] * seats
        self._of_candidates: list[tuple[Tensor, Tensor]] = [(stepper.W_o[:0], stepper.b_w[:0])] * seats
        """With a shortlist: the rows of W_o and b_w that belong to the candidates of each seat."""
        self._seated = False

    def read(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        of = self._stepper
        x_BS = x_BS[:, : int(lengths_B.max())]
        (B, S), N = x_BS.shape, of.cell.hidden_size
        real_SB1 = (torch.arange(S).unsqueeze(1) < lengths_B).to(of.E_source.dtype).unsqueeze(2)
        words, rows_SB = x_BS.T.unique(return_inverse=True)
        h_SBC = of.encoder.run(of.E_source[words], rows_SB, real_SB1)
        for norm, layer in of.encoders_above:
            h_SBC = h_SBC + layer.run(norm(h_SBC).flatten(0, 1), torch.arange(S * B).view(S, B), real_SB1)
        h_SBC = of.norm_annotations(h_SBC)
        keys_BSA = None
        if of.keys is None:
            summary_BN = h_SBC[lengths_B - 1, torch.arange(B)]
            values_BSY = of.from_context(summary_BN).unsqueeze(1)
        else:
            summary_BN = h_SBC[0, :, N:].contiguous()
            annotations_XC = h_SBC.transpose(0, 1).reshape(B * S, 2 * N)
            keys_BSA = of.keys(annotations_XC).unflatten(0, (B, S))
            values_BSY = of.from_context(annotations_XC).unflatten(0, (B, S))
        state_BD = of.cell.first_state(torch.tanh(of.first_state(summary_BN)))
        candidates: list[list[int]] = []
        if of.shortlist is not None:
            sentences = zip(x_BS.tolist(), lengths_B.tolist(), strict=True)
            candidates = [of.shortlist.candidates(x_S[: length - 1]) for x_S, length in sentences]
        self._waiting = _Waiting(lengths_B, keys_BSA, values_BSY, state_BD, self._products(state_BD), candidates)

    def admit(self, sentences_b: Integers, seats_b: Integers) -> None:
        waiting, of = self._waiting, self._stepper
        sentences, seats = torch.from_numpy(sentences_b), torch.from_numpy(seats_b)
        state_bD, projected_bM = waiting.state_BD[sentences], waiting.projected_BM[sentences]
        S = waiting.values_BSY.shape[1]
        if not self._seated:
            positions = 1 if waiting.keys_BSA is None else self._positions
            self._lengths_Q = torch.zeros(self._seats, dtype=torch.int64)
            self._values_QSY = waiting.values_BSY.new_zeros(self._seats, positions, waiting.values_BSY.shape[2])
            if waiting.keys_BSA is not None:
                self._keys_QSA = waiting.keys_BSA.new_zeros(self._seats, positions, waiting.keys_BSA.shape[2])
            self._state_RD, self._projected_RM = state_bD[:0], projected_bM[:0]
            self._seated = True
        self._lengths_Q[seats] = waiting.lengths_B[sentences]
        self._values_QSY[seats, :S] = waiting.values_BSY[sentences]
        if waiting.keys_BSA is not None:
            self._keys_QSA[seats, :S] = waiting.keys_BSA[sentences]
        if of.shortlist is not None:
            for sentence, seat in zip(sentences_b.tolist(), seats_b.tolist(), strict=True):
                own = waiting.candidates[sentence]
                self._candidates[seat], self._of_candidates[seat] = own, (of.W_o[own], of.b_w[own])
            longest = max(len(own) for own in self._candidates)
            longest = -(-(of.frequent + longest + 1) // BLOCK) * BLOCK - of.frequent  # one at least
            padded = [own + [-1] * (longest - len(own)) for own in self._candidates]
            self._candidates_QX = torch.tensor(padded, dtype=torch.int64)
        self._state_RD = torch.cat([self._state_RD, state_bD])
        self._projected_RM = torch.cat([self._projected_RM, projected_bM])
        empty = [layer.cell.first_state(waiting.state_BD.new_zeros(len(seats), of.cell.hidden_size)) for layer in of.above]
        self._above_RD = [torch.cat(pair) for pair in zip(self._above_RD, empty, strict=True)] if self._above_RD else empty
        self._seats_R = torch.cat([self._seats_R, seats])
        self._words_R = np.concatenate([self._words_R, np.full(len(seats_b), of.words.none)])

    def look(self) -> Prediction:
        of = self._stepper
        table_VY, words_R = of.words.rows(self._words_R)
        alpha_RS = None
        if of.v_a is None:
            context_RY = self._values_QSY[self._seats_R, 0]
        else:
            query_RA = self._projected_RM[:, of.query : of.query + len(of.v_a)]
            alpha_RS, context_RY = decoder_step.attend(
                query_RA, self._keys_QSA, of.v_a, self._values_QSY, self._lengths_Q, self._seats_R
            )
        context_RY, of_layers = context_RY.split([table_VY.shape[1], context_RY.shape[1] - table_VY.shape[1]], 1)
        context_RY = context_RY.contiguous()
        if not of.generates_first:
            self._update(context_RY, torch.arange(len(words_R)), table_VY, words_R)
        self._context_RY = context_RY
        s_RN = of.cell.hidden(self._state_RD)
        for i, layer in enumerate(of.above):
            self._above_RD[i] = layer.step(self._above_RD[i], s_RN, of_layers[:, i * of.gates : (i + 1) * of.gates])
            u_RN = layer.cell.hidden(self._above_RD[i])
            self._projected_RM[:, -of.maxout_width :] += layer.to_readout(u_RN.contiguous())
            s_RN = s_RN + u_RN
        t_RL = of.norm_maxout(decoder_step.maxout(self._projected_RM, context_RY, table_VY, words_R, of.maxout_width))
        bias_V = of.b_w[: of.frequent]
        X = 0 if of.shortlist is None else self._candidates_QX.shape[1]
        if not X:
            return Prediction(len(t_RL), lambda rows: of.from_maxout.unscaled(t_RL[rows]), bias_V, alpha_RS)
        product_RV, factor_R = of.from_maxout.unscaled(t_RL)
        logits_RV = t_RL.new_full((len(t_RL), of.frequent + X), -torch.inf)
        torch.addcmul(bias_V, product_RV, factor_R.unsqueeze(1), out=logits_RV[:, : of.frequent])
        first, ones_R = 0, t_RL.new_ones(len(t_RL))
        for seat, count in zip(*map(Tensor.tolist, self._seats_R.unique_consecutive(return_counts=True)), strict=True):
            W_XL, b_X = self._of_candidates[seat]
            rows = slice(first, first + count)
            torch.addmm(b_X, t_RL[rows], W_XL.T, out=logits_RV[rows, of.frequent : of.frequent + len(b_X)])
            first += count
        return Prediction(
            rows=len(t_RL),
            products=lambda rows: (logits_RV[rows], ones_R[rows]),
            bias_V=t_RL.new_zeros(logits_RV.shape[1]),
            alpha_RS=alpha_RS,
            candidates_RX=self._candidates_QX[self._seats_R],
        )

    def write(self, parents_r: Integers, words_r: Integers) -> None:
        of = self._stepper
        parents = torch.from_numpy(parents_r)
        if of.generates_first and len(parents):
            self._update(self._context_RY, parents, *of.words.rows(words_r))
        else:
            self._state_RD, self._projected_RM = self._state_RD[parents], self._projected_RM[parents]
        self._above_RD = [state_RD[parents] for state_RD in self._above_RD]
        self._seats_R = self._seats_R[parents]
        self._words_R = words_r

    def _update(self, context_RY: Tensor, parents_R: Tensor, table_VY: Tensor, words_R: Tensor) -> None:
        """s_i = f(s_{i−1}, y, c_i), and its products."""
        self._state_RD = self._stepper.recurrence.step(
            self._state_RD, self._projected_RM, context_RY, parents_R, table_VY, words_R
        )
        self._projected_RM = self._products(self._state_RD)

    def _products(self, state_RD: Tensor) -> Tensor:
        return self._stepper.from_state(self._stepper.cell.hidden(state_RD).contiguous())
