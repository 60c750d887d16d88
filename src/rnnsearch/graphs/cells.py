"""The recurrent function f (appendix A.1.1) as graphs: one operator for whole sentences, and a single step.

The equations are those of `rnnsearch.model.cells`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rnnsearch.graphs.graph import Tensor
from rnnsearch.graphs.network import Affine, Network


class Cell(NamedTuple):
    """The properties in which the cells differ."""

    gates: tuple[str, ...]
    """The gates in the order of the model; the candidate has the empty name."""
    biased: tuple[str, ...]
    """The gates that have a bias."""
    operator: str
    """The ONNX operator that computes the cell over whole sentences."""
    operator_gates: tuple[tuple[str, int], ...]
    """The gates in the order of this operator, and the sign of their weights in it."""
    step: Callable[[Network, str, Tensor, Tensor], Tensor]
    """Returns the next states (R, D) of the cell of this name, from states (R, D) and W x + C c + b of all gates (R, G)."""
    state_width: int = 1
    """D / N, the number of vectors of N units in a state."""

    def inputs(self, cell: str) -> list[Affine]:
        """Return the maps W x + b of all gates."""
        biases = [_name(cell, "b", gate) if gate in self.biased else None for gate in self.gates]
        return [Affine(_name(cell, "W", gate), bias) for gate, bias in zip(self.gates, biases, strict=True)]

    def contexts(self, cell: str) -> list[Affine]:
        """Return the maps C c of all gates."""
        return [Affine(_name(cell, "C", gate)) for gate in self.gates]


def _name(cell: str, matrix: str, gate: str) -> str:
    return f"{cell}.{matrix}_{gate}" if gate else f"{cell}.{matrix}"


def _hidden(net: Network, state_RD: Tensor) -> list[Tensor]:
    """Return the vectors (R, N) that make up a state; the first is the hidden state."""
    N = net.config.hidden_size
    return net.graph.split(state_RD, [N] * CELLS[net.config.cell].state_width)


def _recurrent(net: Network, cell: str, s_RN: Tensor, *gates: str) -> Tensor:
    """Return U_k s of these gates, concatenated: (R, gates · N)."""
    return net.affine(s_RN, *(Affine(_name(cell, "U", gate)) for gate in gates))


def _gated(net: Network, cell: str, s_RN: Tensor, inputs_RG: Tensor) -> Tensor:
    """Compute z, r = σ(inputs + U_k s);  s~ = tanh(inputs + U [r ∘ s]);  f = (1 − z) ∘ s + z ∘ s~."""
    # The update gate z and the reset gate r, and then the candidate s~ from the reset state.
    graph, N = net.graph, net.config.hidden_size
    candidate_RN, gates_RG = graph.split(inputs_RG, [N, 2 * N])
    z_RN, r_RN = graph.split(graph.apply("Sigmoid", gates_RG + _recurrent(net, cell, s_RN, "z", "r")), [N, N])
    candidate_RN = graph.apply("Tanh", candidate_RN + _recurrent(net, cell, r_RN * s_RN, ""))
    return s_RN + z_RN * (candidate_RN - s_RN)


def _lstm(net: Network, cell: str, state_RD: Tensor, inputs_RG: Tensor) -> Tensor:
    """Compute i, f, o = σ(inputs + U_k s);  memory' = f ∘ memory + i ∘ tanh(inputs + U s);  s' = o ∘ tanh(memory')."""
    graph, N = net.graph, net.config.hidden_size
    # The state is [s ; memory]; the gates are computed from the hidden state s.
    s_RN, memory_RN = _hidden(net, state_RD)
    total_RG = inputs_RG + _recurrent(net, cell, s_RN, *CELLS["lstm"].gates)
    candidate_RN, gates_RG = graph.split(total_RG, [N, 3 * N])
    i_RN, f_RN, o_RN = graph.split(graph.apply("Sigmoid", gates_RG), [N, N, N])
    memory_RN = f_RN * memory_RN + i_RN * graph.apply("Tanh", candidate_RN)
    return graph.join([o_RN * graph.apply("Tanh", memory_RN), memory_RN])


def _tanh(net: Network, cell: str, s_RN: Tensor, inputs_RG: Tensor) -> Tensor:
    """Compute f = tanh(inputs + U s)."""
    return net.graph.apply("Tanh", inputs_RG + _recurrent(net, cell, s_RN, ""))


CELLS = {
    # ONNX's GRU interpolates with z where the paper does with 1 − z. Since 1 − σ(a) = σ(−a), the weights of z are negated.
    "gated": Cell(("", "z", "r"), ("",), "GRU", (("z", -1), ("r", 1), ("", 1)), _gated),
    "lstm": Cell(
        ("", "i", "f", "o"), ("", "i", "f", "o"), "LSTM", (("i", 1), ("o", 1), ("f", 1), ("", 1)), _lstm, state_width=2
    ),
    "tanh": Cell(("",), ("",), "RNN", (("", 1),), _tanh),
}
"""The cells by their name in `model.cell`."""


def step(net: Network, cell: str, state_RD: Tensor, inputs_RG: Tensor) -> Tensor:
    """Return s_i = f(s_{i−1}, x_i, c_i), (R, D), with `inputs` = W x_i + C c_i + b of all gates."""
    return CELLS[net.config.cell].step(net, cell, state_RD, inputs_RG)


def hidden(net: Network, state_RD: Tensor) -> Tensor:
    """Return the hidden part (R, N) of states."""
    return _hidden(net, state_RD)[0]


def unroll(net: Network, layer: str, x_SBE: Tensor, lengths_B: Tensor) -> Tensor:
    """Return the annotations [h→_j ; h←_j] (S, B, C) of a layer, or h→_j of a forward-only encoder (appendix A.2.1).

    h→_j = f(h→_{j−1}, x_j), and h←_j = f(h←_{j+1}, x_j). `lengths` (B) are int32. ONNX's GRU with `linear_before_reset` = 0
    applies the reset gate before U, as the paper does.
    """
    # The operator takes the weights of its gates, in its own order, for all directions: (directions, gates · N, width).
    graph, cell, N = net.graph, CELLS[net.config.cell], net.config.hidden_size
    directions = ["forward_cell", "backward_cell"] if net.config.bidirectional else ["forward_cell"]
    gates = [(f"{layer}.{direction}", gate, sign) for direction in directions for gate, sign in cell.operator_gates]
    signs = [sign for _, _, sign in gates]
    W, U = (
        net.stored([_name(place, matrix, gate) for place, gate, _ in gates], signs, (len(directions), -1, width))
        for matrix, width in (("W", net.weights.shape(_name(gates[0][0], "W", ""))[1]), ("U", N))
    )
    # It adds two biases, that of W x and that of U s; the second one is zero.
    zero_N = np.zeros(N, np.float32)
    b = [net.weights[_name(place, "b", gate)] if gate in cell.biased else zero_N for place, gate, _ in gates]
    b_W = np.concatenate(b).reshape(len(directions), -1)
    # Both directions in one operator; X is the direction.
    states_SXBN = graph.apply(
        cell.operator,
        *(x_SBE, W, U, graph.constant(np.concatenate([b_W, np.zeros_like(b_W)], 1)), lengths_B),
        hidden_size=N,
        direction="bidirectional" if net.config.bidirectional else "forward",
    )
    # (S, directions, B, N) to (S, B, directions · N), which are the annotations.
    return graph.reshape(graph.apply("Transpose", states_SXBN, perm=[0, 2, 1, 3]), 0, 0, N * len(directions))
