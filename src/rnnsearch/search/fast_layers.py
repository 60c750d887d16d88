"""The layers of the fast backend: packed weights, and cell steps that receive the projections of the state."""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from rnnsearch.model.cells import Cell, GatedCell, LSTMCell, TanhCell
from rnnsearch.model.encoder import Encoder
from rnnsearch.model.layers import DecoderLayer, EncoderLayer
from rnnsearch.model.rnnsearch import RNNsearch
from rnnsearch.ops import decoder_step
from rnnsearch.ops.packed import WeightPrecision, packed
from rnnsearch.search.backend import Integers

KEPT_WORDS = 8192
"""Maximum number of words whose projections are cached; at the paper's size, these take 128 MB."""


class CellStep(Protocol):
    """The step of a cell for R rows."""

    from_state: Tensor
    """The matrices that project the hidden state for a step, (M, N)."""

    def __call__(
        self,
        states_XD: Tensor,
        projected_XM: Tensor,
        context_XY: Tensor | None,
        parents_R: Tensor,
        words_VY: Tensor,
        words_R: Tensor,
    ) -> Tensor:
        """The next states (R, D).

        Row i continues row `parents[i]` of the states, of their projections and of the projected contexts; its input is row
        `words[i]` of `words_VY`. `projected` begins with `from_state` times the hidden state. Inputs and contexts begin with
        the G columns of all gates.
        """
        ...


class _GatedStep:
    """The step of the gated unit, which has a further matrix product after its reset gate."""

    def __init__(self, cell: Cell, precision: WeightPrecision) -> None:
        U, self.from_state = cell.recurrent_weights()
        self._from_reset = packed(U, precision=precision)

    def __call__(
        self,
        states_XD: Tensor,
        projected_XM: Tensor,
        context_XY: Tensor | None,
        parents_R: Tensor,
        words_VY: Tensor,
        words_R: Tensor,
    ) -> Tensor:
        s_RN, z_RN, reset_RN, inputs_RN = decoder_step.reset(
            states_XD, projected_XM, context_XY, parents_R, words_VY, words_R
        )
        return decoder_step.update(s_RN, z_RN, inputs_RN, self._from_reset(reset_RN))


class _LinearStep:
    """The step of a cell whose gates depend on the state by U s alone."""

    def __init__(self, cell: Cell, precision: WeightPrecision) -> None:
        (self.from_state,) = cell.recurrent_weights()
        self._cell = cell

    def __call__(
        self,
        states_XD: Tensor,
        projected_XM: Tensor,
        context_XY: Tensor | None,
        parents_R: Tensor,
        words_VY: Tensor,
        words_R: Tensor,
    ) -> Tensor:
        G = len(self.from_state)
        total_RG = words_VY[words_R, :G] + projected_XM[parents_R, :G]
        if context_XY is not None:
            total_RG += context_XY[parents_R, :G]
        return self._cell.activate(states_XD[parents_R], total_RG)


CELL_STEPS: dict[type[Cell], type[_GatedStep] | type[_LinearStep]] = {
    GatedCell: _GatedStep,
    LSTMCell: _LinearStep,
    TanhCell: _LinearStep,
}
"""The cells that the fast backend implements, by their exact type: a subclass may compute another function."""


def cell_step(cell: Cell, precision: WeightPrecision) -> CellStep:
    """The step of a cell whose type is in `CELL_STEPS`; raises KeyError for others."""
    return CELL_STEPS[type(cell)](cell, precision)


class RecurrentLayer:
    """A cell run over whole sequences, forward or backward: one direction of an encoder layer."""

    def __init__(self, cell: Cell, precision: WeightPrecision) -> None:
        bias_G = cell.project_input(cell.stacked("W").new_zeros(cell.stacked("W").shape[1]))
        self._cell = cell
        self._project_input = packed(cell.stacked("W"), bias_G, precision)
        self._step = cell_step(cell, precision)
        self._from_state = packed(self._step.from_state, precision=precision)

    def run(self, x_XE: Tensor, rows_SB: Tensor, mask_SB1: Tensor, backward: bool = False) -> Tensor:
        """The hidden states (S, B, N) from s_0 = 0; outside a sentence, where `mask` is 0, they are zero.

        `rows` (int64) gives the row of x that each position reads, so that each distinct word is projected only once.
        """
        (S, B), cell = rows_SB.shape, self._cell
        inputs_XG = self._project_input(x_XE)
        state_BD = x_XE.new_zeros(B, cell.state_width * cell.hidden_size)
        states_SBN = x_XE.new_empty(S, B, cell.hidden_size)
        rows_B = torch.arange(B)
        for t in reversed(range(S)) if backward else range(S):
            projected_BM = self._from_state(cell.hidden(state_BD).contiguous())
            state_BD = self._step(state_BD, projected_BM, None, rows_B, inputs_XG, rows_SB[t])
            state_BD *= mask_SB1[t]
            states_SBN[t] = cell.hidden(state_BD)
        return states_SBN


class FastEncoderLayer:
    """A layer of the encoder, forward-only or bidirectional."""

    def __init__(self, layer: Encoder | EncoderLayer, precision: WeightPrecision) -> None:
        self.forward = RecurrentLayer(layer.forward_cell, precision)
        self.backward = None if layer.backward_cell is None else RecurrentLayer(layer.backward_cell, precision)

    def run(self, x_XE: Tensor, rows_SB: Tensor, mask_SB1: Tensor) -> Tensor:
        """[h→_j ; h←_j] (S, B, C); see `RecurrentLayer.run`."""
        h_SBC = self.forward.run(x_XE, rows_SB, mask_SB1)
        if self.backward is not None:
            h_SBC = torch.cat([h_SBC, self.backward.run(x_XE, rows_SB, mask_SB1, backward=True)], 2)
        return h_SBC


class FastDecoderLayer:
    """An extra layer of the decoder, and its contribution U_o u to the readout."""

    def __init__(self, layer: DecoderLayer, U_o: Tensor, precision: WeightPrecision) -> None:
        self.cell, self.norm = layer.cell, layer.norm
        bias_G = layer.cell.project_input(U_o.new_zeros(layer.cell.hidden_size))
        self.from_below = packed(layer.cell.stacked("W"), bias_G, precision)
        self.cell_step = cell_step(layer.cell, precision)
        self.from_state = packed(self.cell_step.from_state, precision=precision)
        self.to_readout = packed(U_o, precision=precision)

    def step(self, state_RD: Tensor, s_RN: Tensor, context_RG: Tensor) -> Tensor:
        """u_i as states (R, D), from u_{i−1}, the output s of the layer below, and the projected contexts."""
        rows_R = torch.arange(len(s_RN))
        projected_RM = self.from_state(self.cell.hidden(state_RD).contiguous())
        inputs_RG = self.from_below(self.norm(s_RN).contiguous())
        return self.cell_step(state_RD, projected_RM, context_RG.contiguous(), rows_R, inputs_RG, rows_R)


class WordProducts:
    """A cache of [W; V_o] E y + [b; b_o], with one row per target word; rows are computed when they are first needed.

    Before the first word, the previous word has the id V, and its embedding is zero.
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
        """A table (X, Y), and the rows (R), int64, of these words in it."""
        with self._lock:
            rows_R = self._row_of[words_R]
            is_missing_R = rows_R < 0
            if not is_missing_R.any():
                return self._table, torch.from_numpy(rows_R)
            missing = _distinct(words_R[is_missing_R])
            if self._kept + len(missing) > len(self._table):
                missing = _distinct(words_R)
                self._clear(max(KEPT_WORDS, len(missing)))
            new = slice(self._kept, self._kept + len(missing))
            self._table[new] = self._product(self._embedded(missing))
            self._row_of[missing] = np.arange(new.start, new.stop)
            self._kept += len(missing)
            return self._table, torch.from_numpy(self._row_of[words_R])

    def _clear(self, capacity: int) -> None:
        # Allocate a new table, since another search may still be reading the old one.
        self._table = self._E_VE.new_empty(min(capacity, self.none + 1), self._width)
        self._row_of = np.full(self.none + 1, -1, np.int64)
        self._kept = 0

    def _embedded(self, words_R: Integers) -> Tensor:
        words = torch.from_numpy(words_R)
        y_RE = self._E_VE[words.clamp(max=self.none - 1)]
        return y_RE.masked_fill_((words == self.none).unsqueeze(1), 0)


def _distinct(words_R: Integers) -> Integers:
    """The different words, in ascending order: `numpy.unique` would import `numpy.ma`, which takes a tenth of a second."""
    different: Integers = torch.from_numpy(words_R).unique().numpy()
    return different
