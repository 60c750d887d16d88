"""One step of a cell, for inference: its recurrent product may be part of a larger one, and its weights are packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from rnnsearch.ops import decoder_step
from rnnsearch.ops.packed import WeightPrecision, packed

if TYPE_CHECKING:
    from rnnsearch.model.cells import Cell


class Recurrence(Protocol):
    """s' of R rows, each from a row of states and the inputs that belong to it."""

    from_state: Tensor
    """The matrices whose products with the hidden state a step needs first."""

    def step(
        self,
        states_XD: Tensor,
        projected_XM: Tensor,
        context_XY: Tensor | None,
        parents_R: Tensor,
        words_VY: Tensor,
        words_R: Tensor,
    ) -> Tensor:
        """The next states (R, D).

        Row R goes on from row `parents` of the states, of `projected`, which begins with `from_state` times their hidden
        part, and of the projected contexts; its input is row `words` of `words_VY`. Inputs and contexts begin with the G
        columns of all gates.
        """
        ...


def recurrence(cell: Cell, precision: WeightPrecision) -> Recurrence:
    """How the given cell is stepped."""
    return _GatedRecurrence(cell, precision) if cell.gates == ("", "z", "r") else _LinearRecurrence(cell)


class _GatedRecurrence:
    """The gated unit has a product after its reset gate."""

    def __init__(self, cell: Cell, precision: WeightPrecision) -> None:
        U, self.from_state = cell.recurrent_weights()
        self._from_reset = packed(U, precision=precision)

    def step(
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


class _LinearRecurrence:
    """U s is all that the cell's gates need of the state."""

    def __init__(self, cell: Cell) -> None:
        (self.from_state,) = cell.recurrent_weights()
        self._cell = cell

    def step(
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


class Recurrent:
    """A cell run over whole sequences, forwards or backwards: half an encoder."""

    def __init__(self, cell: Cell, precision: WeightPrecision) -> None:
        bias_G = cell.project_input(cell.stacked("W").new_zeros(cell.stacked("W").shape[1]))
        self._cell = cell
        self._project_input = packed(cell.stacked("W"), bias_G, precision)
        self._recurrence = recurrence(cell, precision)
        self._from_state = packed(self._recurrence.from_state, precision=precision)

    def run(self, x_XE: Tensor, rows_SB: Tensor, real_SB1: Tensor, backward: bool = False) -> Tensor:
        """Hidden states (S, B, N), from zero; positions outside a sentence (`real` is 0) leave the state at zero.

        What a position reads is a row of x, int64: a word that occurs often is multiplied once.
        """
        (S, B), cell = rows_SB.shape, self._cell
        inputs_XG = self._project_input(x_XE)
        state_BD = x_XE.new_zeros(B, cell.state_width * cell.hidden_size)
        states_SBN = x_XE.new_empty(S, B, cell.hidden_size)
        rows_B = torch.arange(B)
        for t in reversed(range(S)) if backward else range(S):
            projected_BM = self._from_state(cell.hidden(state_BD).contiguous())
            state_BD = self._recurrence.step(state_BD, projected_BM, None, rows_B, inputs_XG, rows_SB[t])
            state_BD *= real_SB1[t]
            states_SBN[t] = cell.hidden(state_BD)
        return states_SBN
