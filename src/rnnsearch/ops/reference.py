"""The yardstick: the recurrences step by step, as the paper writes them, under PyTorch's autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rnnsearch.ops.interface import Decoded

if TYPE_CHECKING:
    from rnnsearch.model.attention import Source
    from rnnsearch.model.cells import Cell
    from rnnsearch.model.decoder import Decoder


class Reference:
    """Plain autograd. See `Engine` for what the methods promise."""

    def encode(self, cell: Cell, inputs_SBG: Tensor, real_SB: Tensor, backward: bool = False) -> Tensor:
        weights = cell.recurrent_weights()
        _, B, _ = inputs_SBG.shape
        state_BD = inputs_SBG.new_zeros(B, cell.state_width * cell.hidden_size)
        # unbind, not indexing: under autograd an index's backward fills a zero tensor of the whole sequence, at each step.
        steps = list(zip(inputs_SBG.unbind(), real_SB.to(inputs_SBG.dtype).unsqueeze(-1).unbind(), strict=True))
        states = []
        for inputs_BG, real_B1 in reversed(steps) if backward else steps:
            state_BD = cell.step(weights, state_BD, inputs_BG) * real_B1
            states.append(cell.hidden(state_BD))
        return torch.stack(states[::-1] if backward else states)

    def decode(
        self, decoder: Decoder, inputs_TBG: Tensor, source: Source, real_TB: Tensor | None = None
    ) -> Decoded:
        cell, attend = decoder.cell, decoder.alignment.attend
        weights, C = cell.recurrent_weights(), cell.stacked("C")
        state_BD = decoder.first_state(source)
        states, contexts = [cell.hidden(state_BD)], []
        alphas: list[Tensor] = []
        for inputs_BG in inputs_TBG.unbind():
            c_B1C, alpha_B1S = attend(states[-1].unsqueeze(1), source)
            c_BC = c_B1C.squeeze(1)
            state_BD = cell.step(weights, state_BD, torch.addmm(inputs_BG, c_BC, C.T))
            states.append(cell.hidden(state_BD))
            contexts.append(c_BC)
            if alpha_B1S is not None:
                alphas.append(alpha_B1S)
        alpha_TBS = torch.cat(alphas, 1).transpose(0, 1) if alphas else None
        return Decoded(torch.stack(states), torch.stack(contexts), alpha_TBS)
