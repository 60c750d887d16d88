"""What is beyond the paper's model: further recurrent layers above its own, and layer normalisation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.config import ModelConfig
from rnnsearch.model.cells import CELLS, Cell
from rnnsearch.ops import Engine, drop


class Normalization(nn.Module):
    """Layer normalisation (Ba et al. 2016): g ∘ (x − mean) / standard deviation + b, over the units of x."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.g = nn.Parameter(torch.ones(size))
        self.b = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape (…, size)."""
        return nn.functional.layer_norm(x, self.g.shape, self.g, self.b)


def normalization(config: ModelConfig, size: int) -> nn.Module:
    """Layer normalisation, or nothing."""
    return Normalization(size) if config.layer_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """An encoder above another: it reads the annotations below in both directions (RNNencdec: in one), and adds to them."""

    def __init__(self, config: ModelConfig, context_size: int) -> None:
        super().__init__()
        cell = CELLS[config.cell]
        self.norm = normalization(config, context_size)
        self.forward_cell = cell(context_size, config.hidden_size)
        self.backward_cell = cell(context_size, config.hidden_size) if config.alignment != "none" else None

    def forward(self, below_SBC: Tensor, real_SB: Tensor, engine: Engine, dropout: float) -> Tensor:
        """h + [f→ ; f←], with the recurrences reading h."""
        x_SBC = drop(self.norm(below_SBC), dropout)
        return below_SBC + read_both_ways(self.forward_cell, self.backward_cell, x_SBC, real_SB, engine)


class DecoderLayer(nn.Module):
    """A recurrence above the decoder's: u_i = f(u_{i−1}, s, c_i) from u_0 = 0; the readout has s + u_i in the place of s."""

    def __init__(self, config: ModelConfig, context_size: int) -> None:
        super().__init__()
        n = config.hidden_size
        self.norm = normalization(config, n)
        self.cell = CELLS[config.cell](n, n, context_size)

    def forward(self, s_TBN: Tensor, contexts_TBC: Tensor, real_TB: Tensor, engine: Engine, dropout: float) -> Tensor:
        """s + u, for all steps."""
        inputs_TBG = self.cell.project_input(drop(self.norm(s_TBN), dropout)) + self.cell.project_context(contexts_TBC)
        return s_TBN + engine.encode(self.cell, inputs_TBG, real_TB)

    def first_state(self, like_XN: Tensor) -> Tensor:
        """u_0, as states (X, D)."""
        return self.cell.first_state(torch.zeros_like(like_XN))

    def step(self, state: Tensor, s: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """One step: the next state (…, D) and s + u (…, N)."""
        inputs = self.cell.project_input(self.norm(s)) + self.cell.project_context(context)
        state = self.cell.step(self.cell.recurrent_weights(), state, inputs)
        return state, s + self.cell.hidden(state)


def read_both_ways(forward: Cell, backward: Cell | None, x_SBE: Tensor, real_SB: Tensor, engine: Engine) -> Tensor:
    """[h→_j ; h←_j], (S, B, C); without a backward cell h→_j alone."""
    forward_SBN = engine.encode(forward, forward.project_input(x_SBE), real_SB)
    if backward is None:
        return forward_SBN
    backward_SBN = engine.encode(backward, backward.project_input(x_SBE), real_SB, backward=True)
    return torch.cat([forward_SBN, backward_SBN], -1)
