"""The encoder: a forward and a backward recurrence over one source embedding (section 3.2, appendix A.2.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.config import ModelConfig
from rnnsearch.engine import Engine, drop
from rnnsearch.model.alignment import Source
from rnnsearch.model.cells import CELLS


class Encoder(nn.Module):
    """Annotations h_j = [h→_j ; h←_j]; RNNencdec, which reads the sentence once, has the forward half alone."""

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        cell = CELLS[config.cell]
        self.E = nn.Parameter(torch.zeros(vocabulary_size, config.embedding_size))
        self.sparse_gradient = False
        """Whether the gradient of E holds only the rows of words that were read: training on a CPU wants it so."""
        self.forward_cell = cell(config.embedding_size, config.hidden_size)
        self.backward_cell = (
            cell(config.embedding_size, config.hidden_size) if config.alignment != "none" else None
        )

    @property
    def context_size(self) -> int:
        """C, the size of an annotation."""
        return self.forward_cell.hidden_size * (1 if self.backward_cell is None else 2)

    def forward(self, x_BS: Tensor, lengths_B: Tensor, engine: Engine, dropout: float = 0.0) -> Source:
        """Encode word ids (B, S), each sentence ending with the end symbol and padded after it."""
        B, S = x_BS.shape
        # The longest first: engines then stop early with those that end early. The sentences' own order is restored below.
        order_B = torch.argsort(lengths_B, descending=True, stable=True)
        place_B = torch.argsort(order_B)
        x_BS, lengths_B = x_BS[order_B], lengths_B[order_B]
        real_SB = torch.arange(S, device=x_BS.device).unsqueeze(1) < lengths_B
        x_SBE = nn.functional.embedding(x_BS.T, self.E, sparse=self.sparse_gradient)
        x_SBE = drop(x_SBE, dropout)

        forward_SBN = engine.encode(self.forward_cell, self.forward_cell.project_input(x_SBE), real_SB)
        if self.backward_cell is None:
            annotations_SBN = drop(forward_SBN, dropout)
            summary_BN = annotations_SBN[lengths_B - 1, torch.arange(B, device=x_BS.device)]
            return Source(annotations_SBN.transpose(0, 1)[place_B], real_SB.T[place_B], summary_BN[place_B])

        backward_SBN = engine.encode(
            self.backward_cell, self.backward_cell.project_input(x_SBE), real_SB, backward=True
        )
        annotations_BSC = torch.cat([forward_SBN, backward_SBN], -1).transpose(0, 1).index_select(0, place_B)
        annotations_BSC = drop(annotations_BSC, dropout)
        return Source(annotations_BSC, real_SB.T[place_B], backward_SBN[0][place_B])
