"""The recurrent function f of encoder and decoder: gated hidden unit, LSTM or tanh unit (appendix A.1.1).

A cell is affine in its input and its context, so both are projected outside the recurrence (`project_input`,
`project_context`) and summed; the recurrence itself runs only `step`. To add a cell, define a class, here or in
a plugin; its name becomes a value of `model.cell`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.ops import Recurrences
from rnnsearch.plugins import register

CELLS: dict[str, type[Cell]] = {}
"""The cells by their name in `model.cell`."""


class Cell(nn.Module):
    """A recurrent function: s_i = f(s_{i−1}, x_i, c_i).

    A subclass names its gates. Every gate `k` has matrices `W_k` (N, E) and `U_k` (N, N), with a context also `C_k` (N, C),
    and, if it is in `biased`, a vector `b_k` (N). The candidate is the gate with the empty name: `W`, `U`, `C`, `b`.
    """

    def __init_subclass__(cls, name: str, **more: Any) -> None:
        super().__init_subclass__(**more)
        CELLS[name] = cls
        register("cell", name)

    gates: ClassVar[tuple[str, ...]]
    biased: ClassVar[tuple[str, ...]] = ("",)
    state_width: ClassVar[int] = 1
    """D / N, the number of vectors of N units in a state. The first is the hidden state, which other layers read."""

    def __init__(self, input_size: int, hidden_size: int, context_size: int = 0) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.recurrent_dropout = 0.0
        """In training, each element of U is zeroed with this probability; all steps of a sequence use the same mask."""
        for gate in self.gates:
            self._declare("W", gate, hidden_size, input_size)
            self._declare("U", gate, hidden_size, hidden_size)
            if context_size:
                self._declare("C", gate, hidden_size, context_size)
            if gate in self.biased:
                self._declare("b", gate, hidden_size)

    def _declare(self, matrix: str, gate: str, *shape: int) -> None:
        """Create the parameter of a gate, initially zero."""
        self.register_parameter(_name(matrix, gate), nn.Parameter(torch.zeros(*shape)))

    def stacked(self, matrix: str, *gates: str) -> Tensor:
        """Return the matrices of these gates (default: all), concatenated by rows for a single matrix product."""
        return torch.cat([getattr(self, _name(matrix, gate)) for gate in gates or self.gates])

    def project_input(self, x: Tensor) -> Tensor:
        """Return W x + b for all gates, from (…, E) to (…, G)."""
        # b of all gates, zero for those without one.
        bias = torch.cat(
            [
                getattr(self, _name("b", gate)) if gate in self.biased else x.new_zeros(self.hidden_size)
                for gate in self.gates
            ]
        )
        return nn.functional.linear(x, self.stacked("W"), bias)

    def project_context(self, c: Tensor) -> Tensor:
        """Return C c for all gates, from (…, C) to (…, G)."""
        return nn.functional.linear(c, self.stacked("C"))

    def recurrent_weights(self) -> tuple[Tensor, ...]:
        """Return the matrices that `step` needs, after dropout; they are stacked once per sequence."""
        return (self._dropped(self.stacked("U")),)

    def _dropped(self, U: Tensor) -> Tensor:
        """Return U after recurrent dropout, which applies in training only."""
        return ops.dropout(U, self.recurrent_dropout) if self.training else U

    def unroll(
        self, inputs_SBG: Tensor, mask_SB: Tensor, recurrences: Recurrences | None = None, reverse: bool = False
    ) -> Tensor:
        """Return the states s_j = f(s_{j−1}, inputs_j), (S, B, N), from s_0 = 0; `reverse` starts at the last step.

        `inputs` are projected (`project_input`). Where the mask is False, outside a sentence, the state is zero.
        `recurrences` compute the cells that they implement; the loop here computes all other cells.
        """
        weights = self.recurrent_weights()
        _, B, _ = inputs_SBG.shape
        state_BD = inputs_SBG.new_zeros(B, self.state_width * self.hidden_size)
        # The derivative of indexing allocates a tensor of the whole sequence at every step; that of unbind does not.
        steps = list(zip(inputs_SBG.unbind(), mask_SB.to(inputs_SBG.dtype).unsqueeze(-1).unbind(), strict=True))
        # s_j = f(s_{j−1}, inputs_j), reset to zero outside a sentence.
        states = []
        for inputs_BG, mask_B1 in reversed(steps) if reverse else steps:
            state_BD = self.step(weights, state_BD, inputs_BG) * mask_B1
            states.append(self.hidden(state_BD))
        return torch.stack(states[::-1] if reverse else states)

    def step(self, weights: tuple[Tensor, ...], state: Tensor, inputs: Tensor) -> Tensor:
        """Return the next states (…, D), from states (…, D) and the sum of the projections of input and context (…, G)."""
        (U,) = weights
        return self.activate(state, inputs + nn.functional.linear(self.hidden(state), U))

    def activate(self, state: Tensor, total: Tensor) -> Tensor:
        """Return the next states (…, D) from `total` = W x + U s + C c + b (…, G), if gates depend on s by U s alone."""
        raise NotImplementedError

    def first_state(self, hidden: Tensor) -> Tensor:
        """Return the state (…, D) whose hidden part is `hidden` (…, N); memory cells start at zero."""
        return nn.functional.pad(hidden, (0, (self.state_width - 1) * self.hidden_size))

    def hidden(self, state: Tensor) -> Tensor:
        """Return the hidden part (…, N) of a state (…, D), which the alignment model, readout and annotations use."""
        return state[..., : self.hidden_size]


class GatedCell(Cell, name="gated"):
    """The gated hidden unit of Cho et al. (2014a), appendix A.1.1.

        z = σ(W_z x + U_z s + C_z c)      r = σ(W_r x + U_r s + C_r c)
        s~ = tanh(W x + U [r ∘ s] + C c + b)      f = (1 − z) ∘ s + z ∘ s~

    The reset gate is applied before U; `torch.nn.GRU` applies it after U.
    """

    gates = ("", "z", "r")
    U: Tensor

    def recurrent_weights(self) -> tuple[Tensor, ...]:
        return self._dropped(self.U), self._dropped(self.stacked("U", "z", "r"))

    def unroll(
        self, inputs_SBG: Tensor, mask_SB: Tensor, recurrences: Recurrences | None = None, reverse: bool = False
    ) -> Tensor:
        if recurrences is None or type(self) is not GatedCell:  # a subclass may compute another function
            return super().unroll(inputs_SBG, mask_SB, recurrences, reverse)
        # The fused recurrence computes the same as the loop of `Cell.unroll`.
        U, U_zr = self.recurrent_weights()
        zero_BN = U.new_zeros(inputs_SBG.shape[1], self.hidden_size)
        return recurrences.gated(inputs_SBG, zero_BN, mask_SB, U, U_zr, reverse)

    def step(self, weights: tuple[Tensor, ...], state: Tensor, inputs: Tensor) -> Tensor:
        # The gates z and r, then the candidate s~ from the reset state, then s + z ∘ (s~ − s) = (1 − z) ∘ s + z ∘ s~.
        U, U_zr = weights
        N = self.hidden_size
        z, r = torch.sigmoid(inputs[..., N:] + nn.functional.linear(state, U_zr)).chunk(2, -1)
        candidate = torch.tanh(inputs[..., :N] + nn.functional.linear(r * state, U))
        return state + z * (candidate - state)


class LSTMCell(Cell, name="lstm"):
    """Long short-term memory (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000).

    i, f, o = σ(W_k x + U_k s + C_k c + b_k);  memory' = f ∘ memory + i ∘ tanh(W x + U s + C c + b);
    s' = o ∘ tanh(memory'). The state is [s ; memory].
    """

    gates = ("", "i", "f", "o")
    biased = gates
    state_width = 2

    def activate(self, state: Tensor, total: Tensor) -> Tensor:
        # The state is [s ; memory], and `total` is [candidate ; i ; f ; o].
        N = self.hidden_size
        memory = state[..., N:]
        candidate = torch.tanh(total[..., :N])
        i, f, o = torch.sigmoid(total[..., N:]).chunk(3, -1)
        memory = f * memory + i * candidate
        return torch.cat([o * torch.tanh(memory), memory], -1)


class TanhCell(Cell, name="tanh"):
    """The tanh recurrent unit: f = tanh(W x + U s + C c + b)."""

    gates = ("",)

    def activate(self, state: Tensor, total: Tensor) -> Tensor:
        return torch.tanh(total)


def _name(matrix: str, gate: str) -> str:
    """Return the name of a gate's parameter, such as `U_z`, or `U` for the candidate."""
    return f"{matrix}_{gate}" if gate else matrix
