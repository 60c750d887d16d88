"""A recurrent network with attention: a loop around a cell and an attention layer."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from rnnsearch.errors import RnnsearchError
from rnnsearch.nn.attention import Attention
from rnnsearch.nn.memory import Memory
from rnnsearch.nn.recurrent import RecurrentCell
from rnnsearch.nn.shapes import Lengths, expect, padded, sequence_mask

CellState = Tensor | tuple[Tensor, Tensor]
"""The state of a cell: a tensor, or (h, c) of `torch.nn.LSTMCell`."""

ORDERS = ("look-update-generate", "look-generate-update", "update-look-generate")


class AttentiveState(NamedTuple):
    """The state of an `AttentiveRNN`."""

    cell: CellState
    """The state of the cell."""
    read: Tensor
    """The second input of the next update, beside x: the last context or output of the attention layer, (B, R)."""
    attention: Tensor | None
    """The state of the attention, (B, X)."""


class AttentiveRNN(nn.Module):
    """A recurrent cell that attends to a memory at each step; in `tf.contrib.seq2seq`, an AttentionWrapper.

    A step i consists of three actions, from the state s of the cell, the input x_i and the context c:

        look        c = Σ_j α_ij m_j, with the weights α_i = attention(s, m)
        update      s = cell([x_i ; c], s)
        generate    o_i = [s ; c], or, with an attention layer, o_i = layer([s ; c]), which replaces c in the next update

    `order` is the order of these actions. The paper (section 3.1) has *look-update-generate*. Its authors' code has
    *look-generate-update*, where an output does not depend on the input of its own step. AttentionWrapper and Luong et al.
    (2015) have *update-look-generate*, and Luong et al. call it *input feeding* that an update receives the output of the
    attention layer. In *look-update-generate*, an update always receives c, since it follows right after the attention.
    """

    def __init__(
        self,
        input_size: int,
        cell: nn.Module,
        attention: Attention,
        *,
        order: str = "look-update-generate",
        attention_layer: nn.Module | None = None,
    ) -> None:
        """Take the size of an input, a cell, an attention, the order, and optionally a layer that computes the outputs.

        The cell is a `RecurrentCell`, a GRUCell, LSTMCell or RNNCell of `torch.nn`, or another module with an `input_size`,
        a `hidden_size` and the call `state = cell(x, state)`, whose state is a tensor or a tuple that begins with the hidden
        part. Its `input_size` is the sum of the sizes of x_i and of the context or output. The attention layer is any module
        from hidden_size + value_size to its size, such as `nn.Linear(…, bias=False)` (AttentionWrapper's
        `attention_layer_size`), followed by `nn.Tanh()` in Luong et al. Raises RnnsearchError if sizes do not match.
        """
        super().__init__()
        if order not in ORDERS:
            raise RnnsearchError(f"there is no order {order!r}; use one of {', '.join(ORDERS)}")
        self.input_size = input_size
        self.hidden_size = _size(cell, "hidden_size")
        self.read_size = _size(cell, "input_size") - input_size
        """The size R of the second input of an update, beside x."""
        if self.read_size < 0:
            raise RnnsearchError(f"the cell has the input_size {cell.input_size}, less than the {input_size} of an input")
        if attention.query_size != self.hidden_size:
            raise RnnsearchError(
                f"the attention has the query_size {attention.query_size}, and the cell the hidden_size {self.hidden_size}; "
                "the hidden state is the query, so they have to be the same"
            )
        self.cell = cell
        self.attention = attention
        self.attention_layer = attention_layer
        self.order = order

    def first_state(self, memory: Memory, cell_state: CellState | None = None) -> AttentiveState:
        """Return the state before the first step.

        The state of the cell is `cell_state`, by default zero; its hidden part (B, hidden_size) is enough, as `InitialState`
        computes it.
        """
        # A hidden part is completed with a memory cell of zero, for an LSTM.
        if cell_state is None:
            cell_state = memory.values.new_zeros(memory.values.shape[0], self.hidden_size)
        if isinstance(cell_state, Tensor):
            if isinstance(self.cell, RecurrentCell) and cell_state.shape[-1] == self.hidden_size:
                cell_state = self.cell.first_state(cell_state)
            elif isinstance(self.cell, nn.LSTMCell):
                cell_state = cell_state, torch.zeros_like(cell_state)
        read_BR = memory.values.new_zeros(memory.values.shape[0], self.read_size)
        return AttentiveState(cell_state, read_BR, self.attention.first_state(memory))

    def hidden(self, state: AttentiveState) -> Tensor:
        """Return the hidden part of the cell's state, (B, hidden_size)."""
        if isinstance(state.cell, tuple):
            return state.cell[0]
        return self.cell.hidden(state.cell) if isinstance(self.cell, RecurrentCell) else state.cell

    def look(self, memory: Memory, state: AttentiveState) -> tuple[Tensor, AttentiveState]:
        """Attend to the memory: return the weights (B, S), and the state with the new context."""
        context, weights, attention = self.attention.step(self.hidden(state), memory, state.attention)
        return weights, state._replace(read=context, attention=attention)

    def update(self, x: Tensor, state: AttentiveState) -> AttentiveState:
        """Return the state after the cell has read an input (B, input_size)."""
        B = state.read.shape[0]
        expect(x, "x", (B, self.input_size))
        expect(state.read, "what an update reads beside x", (B, self.read_size))
        return state._replace(cell=self.cell(torch.cat([x, state.read], -1), state.cell))

    def generate(self, state: AttentiveState) -> tuple[Tensor, AttentiveState]:
        """Return the output (B, O) from a state with a context, and the state."""
        # [s ; c], or layer([s ; c]), which replaces c in the next update, except in the order look-update-generate.
        output = torch.cat([self.hidden(state), state.read], -1)
        if self.attention_layer is None:
            return output, state
        output = self.attention_layer(output)
        return output, state if self.order == "look-update-generate" else state._replace(read=output)

    def step(self, x: Tensor, memory: Memory, state: AttentiveState) -> tuple[Tensor, Tensor, AttentiveState]:
        """Run a step: return the output (B, O), the weights (B, S) and the next state, from an input (B, input_size)."""
        # The update comes at the place in the order of actions that `order` says.
        if self.order == "update-look-generate":
            state = self.update(x, state)
        weights, state = self.look(memory, state)
        if self.order == "look-update-generate":
            state = self.update(x, state)
        output, state = self.generate(state)
        if self.order == "look-generate-update":
            state = self.update(x, state)
        return output, weights, state

    def forward(
        self, x: Tensor, memory: Memory, state: AttentiveState | None = None
    ) -> tuple[Tensor, Tensor, AttentiveState]:
        """Run T ≥ 1 steps: return outputs (B, T, O), weights (B, T, S) and the last state, from inputs (B, T, input_size).

        The memory comes from `attention.prepare`. If its mask is for T queries, each step uses its own part.
        """
        if isinstance(x, PackedSequence):
            raise RnnsearchError("x is a PackedSequence; pad it with `pad_packed_sequence(x, batch_first=True)`")
        if not isinstance(memory, Memory):
            raise RnnsearchError(f"memory has the type {type(memory).__name__}; expected what `attention.prepare` returns")
        _, T, _ = expect(x, "x", (memory.values.shape[0], None, self.input_size))
        if T == 0:
            raise RnnsearchError("x has no steps; expected one at least")
        memory.expect_queries(T)
        state = self.first_state(memory) if state is None else state
        # One step per input; step t attends with the mask of query t.
        outputs, alphas = [], []
        for t, x_BE in enumerate(x.unbind(1)):
            output, weights, state = self.step(x_BE, memory.of_query(t), state)
            outputs.append(output)
            alphas.append(weights)
        return torch.stack(outputs, 1), torch.stack(alphas, 1), state

    def extra_repr(self) -> str:
        return f"input_size={self.input_size}, order={self.order}"


class InitialState(nn.Module):
    """The layer that computes the first state of a decoder from the memory: s_0 = tanh(W_s m + b_s).

    m is the first vector of the memory (*first*) or the mean of all (*mean*). In the paper (appendix A.2.2), it is h←_1, the
    backward half of the first annotation: `initial(annotations[..., hidden_size:])`.
    """

    def __init__(
        self,
        memory_size: int,
        hidden_size: int,
        summary: str = "first",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of a vector of the memory and of a hidden state.

        Raises RnnsearchError unless `summary` is first or mean.
        """
        super().__init__()
        if summary not in ("first", "mean"):
            raise RnnsearchError(f"there is no summary {summary!r}; use first or mean")
        self.memory_size, self.hidden_size, self.summary = memory_size, hidden_size, summary
        self.W_s = nn.Parameter(torch.empty(hidden_size, memory_size, device=device, dtype=dtype))
        self.b_s = nn.Parameter(torch.empty(hidden_size, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W_s uniformly as Glorot and Bengio (2010) do; b_s is zero."""
        nn.init.xavier_uniform_(self.W_s)
        nn.init.zeros_(self.b_s)

    def forward(
        self, memory: Tensor | PackedSequence, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> Tensor:
        """Return s_0 (B, hidden_size) for a memory (B, S, memory_size).

        A boolean or integer mask or `lengths` mark the padding of the memory. m is zero for a sequence that is all padding.
        Raises RnnsearchError if shapes do not match.
        """
        memory, lengths = padded(memory, "memory", lengths)
        expect(memory, "memory", (None, None, self.memory_size))
        mask_BS = sequence_mask(mask, lengths, memory)
        # The mean over the positions of the mask, of which only the first one remains with `summary` = first.
        if self.summary == "first":
            mask_BS = mask_BS & (mask_BS.cumsum(1) == 1)
        sum_BM = memory.masked_fill(~mask_BS.unsqueeze(2), 0.0).sum(1)
        m_BM = sum_BM / mask_BS.sum(1, keepdim=True).clamp(min=1).to(sum_BM.dtype)
        return torch.tanh(nn.functional.linear(m_BM, self.W_s, self.b_s))

    def extra_repr(self) -> str:
        return f"memory_size={self.memory_size}, hidden_size={self.hidden_size}, summary={self.summary}"


def _size(cell: nn.Module, name: str) -> int:
    """Return an attribute of a cell that must be an integer. Raises RnnsearchError if it is not."""
    size = getattr(cell, name, None)
    if not isinstance(size, int):
        raise RnnsearchError(f"{type(cell).__name__} has no {name}; a cell needs an input_size and a hidden_size")
    return size
