"""The recurrent cells and the bidirectional RNN of the paper."""

from __future__ import annotations

from typing import overload

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from rnnsearch.errors import RnnsearchError
from rnnsearch.model.cells import CELLS, Cell
from rnnsearch.model.layers import bidirectional
from rnnsearch.nn.shapes import Lengths, expect, padded, sequence_mask
from rnnsearch.ops import CpuRecurrences, Recurrences


class RecurrentCell(nn.Module):
    """A step of a recurrence: the paper's gated hidden unit (appendix A.1.1), an LSTM, or a tanh unit.

    The gated hidden unit differs from `torch.nn.GRUCell`: its reset gate is applied to the state before the product with U.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        cell: str = "gated",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of an input and of a hidden state. Raises RnnsearchError unless `cell` is gated, lstm or tanh."""
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.state_size = self.cell.state_width * hidden_size
        """The size of a state: hidden_size, or twice that for an LSTM."""
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W uniformly as Glorot and Bengio (2010) do, and U orthogonal.

        Biases are zero, except that of an LSTM's forget gate, which is one.
        """
        _initialise(self.cell)

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """Return the next states (…, state_size) from inputs (…, input_size) and the states before, by default zero."""
        expect(x, "x", (*x.shape[:-1], self.input_size))
        if state is None:
            state = x.new_zeros(*x.shape[:-1], self.state_size)
        return self.cell.step(self.cell.recurrent_weights(), state, self.cell.project_input(x))

    def first_state(self, hidden: Tensor) -> Tensor:
        """Return states (…, state_size) with the hidden part `hidden` (…, hidden_size); the memory of an LSTM is zero."""
        return self.cell.first_state(hidden)

    def hidden(self, state: Tensor) -> Tensor:
        """Return the part of states (…, state_size) that other layers use, (…, hidden_size)."""
        return self.cell.hidden(state)

    def extra_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


class BidirectionalRNN(nn.Module):
    """A bidirectional RNN, which annotates every position of a sequence (Bahdanau et al. 2015, appendix A.2.1).

    The annotation of a position is [h→_j ; h←_j], the states of a forward and of a backward recurrence, both from zero.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        cell: str = "gated",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of an input and half an annotation. Raises RnnsearchError unless `cell` is gated, lstm or tanh."""
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.forward_cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.backward_cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.recurrences: Recurrences | None = CpuRecurrences()
        """The implementation of the recurrence of gated hidden units, on any device. With None, a step-by-step loop runs: it
        is slower, but can be differentiated more than once, and by `torch.func`."""
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise both cells as `RecurrentCell` does."""
        _initialise(self.forward_cell)
        _initialise(self.backward_cell)

    @overload
    def forward(self, x: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None) -> Tensor: ...
    @overload
    def forward(self, x: PackedSequence) -> PackedSequence: ...
    def forward(
        self, x: Tensor | PackedSequence, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> Tensor | PackedSequence:
        """Return annotations (B, S, 2 hidden_size) of inputs (B, S, input_size), or packed annotations of packed inputs.

        At padding, where the boolean or integer mask (B, S) is False or zero, and from the `lengths` (B) on, the input is
        ignored, the state is reset and the annotation is zero. With a mask, padding may thus be on either side. Raises
        RnnsearchError if shapes do not match.
        """
        if isinstance(x, PackedSequence):
            return self._packed(x, mask, lengths)
        B, S, _ = expect(x, "x", (None, None, self.input_size))
        mask = sequence_mask(mask, lengths, x)
        if B == 0 or S == 0:
            return x.new_zeros(B, S, 2 * self.hidden_size)
        x_BSE = x.masked_fill(~mask.unsqueeze(2), 0.0)
        # Compilers can trace the step-by-step loop only, and the derivatives derived by hand need float32 or float64.
        followed = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
        full = next(self.forward_cell.parameters()).dtype in (torch.float32, torch.float64)
        recurrences = self.recurrences if full and not followed else None
        h_SBC = bidirectional(self.forward_cell, self.backward_cell, x_BSE.transpose(0, 1), mask.T, recurrences)
        return h_SBC.transpose(0, 1)

    def _packed(self, x: PackedSequence, mask: Tensor | None, lengths: Lengths | None) -> PackedSequence:
        """Return the packed annotations of packed inputs."""
        if mask is not None:
            raise RnnsearchError("x is a PackedSequence, which knows its lengths; leave `mask` out")
        x_BSE, lengths = padded(x, "x", lengths)
        assert isinstance(lengths, Tensor)
        annotations_BSC = self.forward(x_BSE, lengths=lengths)
        # Pack the annotations in the order in which the inputs were packed.
        if x.sorted_indices is not None:
            annotations_BSC, lengths = annotations_BSC[x.sorted_indices], lengths[x.sorted_indices.cpu()]
        packed = pack_padded_sequence(annotations_BSC, lengths, batch_first=True)
        return PackedSequence(packed.data, x.batch_sizes, x.sorted_indices, x.unsorted_indices)

    def extra_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


def _cell(name: str, input_size: int, hidden_size: int) -> Cell:
    """Return the cell with this name. Raises RnnsearchError if there is none."""
    if name not in CELLS:
        raise RnnsearchError(f"there is no cell {name!r}; use one of {', '.join(CELLS)}")
    return CELLS[name](input_size, hidden_size)


@torch.no_grad()
def _initialise(cell: Cell) -> None:
    """Draw the weights of a cell; see `RecurrentCell.reset_parameters`."""
    for name, parameter in cell.named_parameters():
        if name.startswith("W"):
            nn.init.xavier_uniform_(parameter)
        elif name.startswith("U"):
            # The QR decomposition behind `orthogonal_` is not available in half precision.
            parameter.copy_(nn.init.orthogonal_(torch.empty_like(parameter, dtype=torch.float32)))
        else:
            nn.init.constant_(parameter, 1.0 if name == "b_f" else 0.0)
