"""Recurrent layers: the paper's bidirectional layer, and the extra layers and layer normalisation of deeper models."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.config import ModelConfig
from rnnsearch.model.cells import CELLS, Cell
from rnnsearch.ops import Recurrences


def bidirectional(
    forward: Cell, backward: Cell | None, x_SBE: Tensor, mask_SB: Tensor, recurrences: Recurrences | None
) -> Tensor:
    """Return h_j = [h→_j ; h←_j], (S, B, C), or h→_j if `backward` is None (section 3.2, appendix A.2.1).

    h→_j = f(h→_{j−1}, x_j), and h←_j = f(h←_{j+1}, x_j).
    """
    forward_SBN = forward.unroll(forward.project_input(x_SBE), mask_SB, recurrences)
    if backward is None:
        return forward_SBN
    backward_SBN = backward.unroll(backward.project_input(x_SBE), mask_SB, recurrences, reverse=True)
    return torch.cat([forward_SBN, backward_SBN], -1)


def layer_norm(config: ModelConfig, size: int) -> nn.Module:
    """Return a layer normalisation (Ba et al. 2016) if the configuration has one, otherwise the identity."""
    return nn.LayerNorm(size) if config.layer_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """An encoder layer above the first, with a residual connection from the layer below."""

    def __init__(self, config: ModelConfig, context_size: int) -> None:
        super().__init__()
        cell = CELLS[config.cell]
        self.norm = layer_norm(config, context_size)
        self.forward_cell = cell(context_size, config.hidden_size)
        self.backward_cell = cell(context_size, config.hidden_size) if config.bidirectional else None

    def forward(self, below_SBC: Tensor, mask_SB: Tensor, recurrences: Recurrences | None, dropout: float) -> Tensor:
        """Return h + [f→ ; f←], (S, B, C), where both recurrences read the annotations h of the layer below."""
        x_SBC = ops.dropout(self.norm(below_SBC), dropout)
        return below_SBC + bidirectional(self.forward_cell, self.backward_cell, x_SBC, mask_SB, recurrences)


class DecoderLayer(nn.Module):
    """A decoder layer above the first: u_i = f(u_{i−1}, s_i, c_i) with u_0 = 0. Its output is s_i + u_i."""

    def __init__(self, config: ModelConfig, context_size: int) -> None:
        super().__init__()
        n = config.hidden_size
        self.norm = layer_norm(config, n)
        self.cell = CELLS[config.cell](n, n, context_size)

    def forward(
        self, s_TBN: Tensor, contexts_TBC: Tensor, mask_TB: Tensor, recurrences: Recurrences | None, dropout: float
    ) -> Tensor:
        """Return s_i + u_i for all steps, (T, B, N)."""
        # Words and contexts of all steps are projected at once; only the recurrence runs step by step.
        x_TBN = ops.dropout(self.norm(s_TBN), dropout)
        inputs_TBG = self.cell.project_input(x_TBN) + self.cell.project_context(contexts_TBC)
        return s_TBN + self.cell.unroll(inputs_TBG, mask_TB, recurrences)

    def first_state(self, like_XN: Tensor) -> Tensor:
        """Return u_0 = 0, as states (X, D), of the type and device of `like`."""
        return self.cell.first_state(torch.zeros_like(like_XN))

    def step(self, state: Tensor, s: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Compute a step: return the next state (…, D) and s + u (…, N)."""
        # u_i = f(u_{i−1}, s_i, c_i), where layer normalisation comes before the cell.
        inputs = self.cell.project_input(self.norm(s)) + self.cell.project_context(context)
        state = self.cell.step(self.cell.recurrent_weights(), state, inputs)
        return state, s + self.cell.hidden(state)
