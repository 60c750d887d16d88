"""The paper's layers for models of your own: additive attention, a recurrent cell, a bidirectional RNN.

Each is a `torch.nn.Module` with initial weights that learn, in float16, bfloat16, float32 or float64, on a CPU or a GPU,
and can be compiled (`torch.compile`) and exported (`torch.export`). Sequences are batch-first, and a mask is a boolean
tensor that is True inside a sequence and False in its padding. From lengths, it is
`torch.arange(S) < lengths.unsqueeze(1)`.

In the shapes below, B is the number of sequences, S the number of positions, and K the number of queries of a sequence.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.errors import RnnsearchError
from rnnsearch.model.attention import additive_energy, masked_softmax
from rnnsearch.model.cells import CELLS, Cell
from rnnsearch.model.layers import bidirectional
from rnnsearch.ops import CpuRecurrences, Recurrences

__all__ = ["BahdanauAttention", "BidirectionalRNN", "RecurrentCell"]


class BahdanauAttention(nn.Module):
    """Additive attention (Bahdanau et al. 2015, appendix A.1.2).

    For a query q and the vectors m_j of a memory, the weights are α_j = softmax_j(v_aᵀ tanh(W_a q + U_a m_j)), and the
    context is Σ_j α_j m_j. In the paper, q is the decoder's last state, and m_j is the annotation of source word j.
    """

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        units: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """The sizes of a query and of a vector of the memory, and the number of hidden units of the alignment model."""
        super().__init__()
        self.query_size = query_size
        self.memory_size = memory_size
        self.units = units
        self.W_a = nn.Parameter(torch.empty(units, query_size, device=device, dtype=dtype))
        self.U_a = nn.Parameter(torch.empty(units, memory_size, device=device, dtype=dtype))
        self.v_a = nn.Parameter(torch.empty(units, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W_a and U_a uniformly as Glorot and Bengio (2010) do, and v_a uniformly with variance 1 / units."""
        nn.init.xavier_uniform_(self.W_a)
        nn.init.xavier_uniform_(self.U_a)
        bound = (3 / self.units) ** 0.5
        nn.init.uniform_(self.v_a, -bound, bound)

    def keys(self, memory: Tensor) -> Tensor:
        """U_a m_j for a memory (B, S, memory_size): (B, S, units), to be computed once for all queries."""
        return nn.functional.linear(memory, self.U_a)

    def forward(
        self, query: Tensor, memory: Tensor, mask: Tensor | None = None, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend to a memory (B, S, memory_size) with a query of each sequence (B, query_size), or K (B, K, query_size).

        Returns the context (B, memory_size) and the weights (B, S), or (B, K, memory_size) and (B, K, S). The weights of a
        query sum to 1. Where the mask (B, S) is False, the weight is zero and the vector of the memory has no effect, as
        long as it is finite; where the mask of a sequence is False everywhere, all weights and the context are zero.
        Pass `keys` = `layer.keys(memory)` if you attend to the same memory several times. Raises RnnsearchError if shapes
        do not match.
        """
        B, S, _ = _expect(memory, "memory", (None, None, self.memory_size))
        if query.dim() == 2:
            _expect(query, "query", (B, self.query_size))
        else:
            _expect(query, "query", (B, None, self.query_size))
        if keys is None:
            keys = self.keys(memory)
        else:
            _expect(keys, "keys", (B, S, self.units))
        query_BKQ = query.unsqueeze(1) if query.dim() == 2 else query
        energy_BKS = additive_energy(nn.functional.linear(query_BKQ, self.W_a), keys, self.v_a)
        weights_BKS = torch.softmax(energy_BKS, -1) if mask is None else masked_softmax(energy_BKS, _boolean(mask, B, S))
        context_BKM = torch.bmm(weights_BKS.to(memory.dtype), memory)
        if query.dim() == 2:
            return context_BKM.squeeze(1), weights_BKS.squeeze(1)
        return context_BKM, weights_BKS

    def extra_repr(self) -> str:
        return f"query_size={self.query_size}, memory_size={self.memory_size}, units={self.units}"


class RecurrentCell(nn.Module):
    """One step of a recurrence: the paper's gated hidden unit (appendix A.1.1), an LSTM, or a plain tanh unit.

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
        """The sizes of an input and of a hidden state; `cell` is gated, lstm or tanh. Raises RnnsearchError otherwise."""
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.state_size = self.cell.state_width * hidden_size
        """The size of a state: hidden_size, or, for an LSTM, twice as much."""
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W uniformly as Glorot and Bengio (2010) do, and U orthogonal.

        Biases are zero, except that of an LSTM's forget gate, which is one.
        """
        _initialise(self.cell)

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """The next state (…, state_size) from inputs (…, input_size) and the states before them, by default zero."""
        _expect(x, "x", (*x.shape[:-1], self.input_size))
        if state is None:
            state = x.new_zeros(*x.shape[:-1], self.state_size)
        return self.cell.step(self.cell.recurrent_weights(), state, self.cell.project_input(x))

    def hidden(self, state: Tensor) -> Tensor:
        """The part of states (…, state_size) that other layers read: (…, hidden_size)."""
        return self.cell.hidden(state)

    def extra_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


class BidirectionalRNN(nn.Module):
    """Sequences read from both ends (Bahdanau et al. 2015, appendix A.2.1).

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
        """The sizes of an input and of half an annotation; `cell` is gated, lstm or tanh, or RnnsearchError is raised."""
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.forward_cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.backward_cell = _cell(cell, input_size, hidden_size).to(device, dtype)
        self.recurrences: Recurrences | None = CpuRecurrences()
        """What computes the recurrence of gated hidden units, on any device. With None, a plain loop does; it is slower, but
        can be differentiated more than once, and by `torch.func`."""
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise both cells as `RecurrentCell` does."""
        _initialise(self.forward_cell)
        _initialise(self.backward_cell)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Annotations (B, S, 2 hidden_size) of inputs (B, S, input_size).

        Where the mask (B, S) is False, the input is ignored, whatever it is, the state is reset and the annotation is zero.
        Padding may thus be on either side. Raises RnnsearchError if shapes do not match.
        """
        B, S, _ = _expect(x, "x", (None, None, self.input_size))
        if mask is None:
            mask = torch.ones(B, S, dtype=torch.bool, device=x.device)
        if B == 0 or S == 0:
            return x.new_zeros(B, S, 2 * self.hidden_size)
        x_BSE = x.masked_fill(~_boolean(mask, B, S).unsqueeze(2), 0.0)
        # Compilers can follow the plain loop only, and half precision is not for derivatives derived by hand.
        followed = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
        full = next(self.forward_cell.parameters()).dtype in (torch.float32, torch.float64)
        recurrences = self.recurrences if full and not followed else None
        h_SBC = bidirectional(self.forward_cell, self.backward_cell, x_BSE.transpose(0, 1), mask.T, recurrences)
        return h_SBC.transpose(0, 1)

    def extra_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


def _cell(name: str, input_size: int, hidden_size: int) -> Cell:
    if name not in CELLS:
        raise RnnsearchError(f"there is no cell {name!r}; use one of {', '.join(CELLS)}")
    return CELLS[name](input_size, hidden_size)


@torch.no_grad()
def _initialise(cell: Cell) -> None:
    for name, parameter in cell.named_parameters():
        if name.startswith("W"):
            nn.init.xavier_uniform_(parameter)
        elif name.startswith("U"):
            # Its decomposition is not available in half precision.
            parameter.copy_(nn.init.orthogonal_(torch.empty_like(parameter, dtype=torch.float32)))
        else:
            nn.init.constant_(parameter, 1.0 if name == "b_f" else 0.0)


def _expect(tensor: Tensor, name: str, shape: tuple[int | None, ...]) -> torch.Size:
    """The shape of a tensor; RnnsearchError if it is not as expected, where None stands for any size."""
    fits = tensor.dim() == len(shape)
    for size, found in zip(shape, tensor.shape, strict=False):
        fits = fits and (size is None or size == found)
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise RnnsearchError(f"{name} has the shape ({', '.join(map(str, tensor.shape))}); expected ({wanted})")
    return tensor.shape


def _boolean(mask: Tensor, B: int, S: int) -> Tensor:
    """The mask; RnnsearchError if it is not a boolean tensor (B, S)."""
    _expect(mask, "mask", (B, S))
    if mask.dtype != torch.bool:
        raise RnnsearchError(f"mask has the type {mask.dtype}; expected torch.bool, True where there is something to read")
    return mask
