"""The encoder: a forward and a backward recurrence over one source embedding (section 3.2, appendix A.2.1)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.config import ModelConfig
from rnnsearch.model.cells import CELLS
from rnnsearch.model.embedding import read_words
from rnnsearch.model.layers import EncoderLayer, bidirectional, layer_norm
from rnnsearch.model.source import Source
from rnnsearch.ops import Recurrences


class Encoder(nn.Module):
    """The encoder, which computes the annotations h_j = [h→_j ; h←_j].

    A forward-only encoder, such as that of RNNencdec, has h_j = h→_j.
    """

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        cell = CELLS[config.cell]
        self.E = nn.Parameter(torch.zeros(vocabulary_size, config.embedding_size))
        self.sparse_gradient = False
        """Whether the gradient of E holds only the rows of words that occur, which is faster in training on a CPU."""
        self.forward_cell = cell(config.embedding_size, config.hidden_size)
        self.backward_cell = cell(config.embedding_size, config.hidden_size) if config.bidirectional else None
        layers = (EncoderLayer(config, self.context_size) for _ in range(config.encoder_layers - 1))
        self.extra_layers = cast("list[EncoderLayer]", nn.ModuleList(layers))
        """The layers above the first, lowest first."""
        self.norm = layer_norm(config, self.context_size)

    @property
    def context_size(self) -> int:
        """The size C of an annotation."""
        return self.forward_cell.hidden_size * (1 if self.backward_cell is None else 2)

    def forward(
        self,
        x_BS: Tensor,
        lengths_B: Tensor,
        recurrences: Recurrences | None = None,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> Source:
        """Encode word ids (B, S); each sentence is padded after its end symbol, which its length (B) includes."""
        B, S = x_BS.shape
        # The longest sentences come first, so that recurrences compute fewer sentences per step as sentences end. The
        # original order is restored below.
        order_B = torch.argsort(lengths_B, descending=True, stable=True)
        place_B = torch.argsort(order_B)
        x_BS, lengths_B = x_BS[order_B], lengths_B[order_B]
        mask_SB = torch.arange(S, device=x_BS.device).unsqueeze(1) < lengths_B
        x_SBE = read_words(x_BS.T, self.E, self.sparse_gradient, dropout, word_dropout)

        # The annotations of the first layer, and the residual connections of further layers.
        h_SBC = bidirectional(self.forward_cell, self.backward_cell, x_SBE, mask_SB, recurrences)
        for layer in self.extra_layers:
            h_SBC = layer(h_SBC, mask_SB, recurrences, dropout)
        h_SBC = self.norm(h_SBC)
        # Batch-major annotations in the original order, and the input of the decoder's initial state: h←_1 or h→_Tx.
        annotations_BSC = ops.dropout(h_SBC.transpose(0, 1).index_select(0, place_B), dropout)
        if self.backward_cell is None:
            summary_BN = annotations_BSC[torch.arange(B, device=x_BS.device), lengths_B[place_B] - 1]
        else:
            summary_BN = h_SBC[0, :, self.forward_cell.hidden_size :][place_B]
        return Source(annotations_BSC, mask_SB.T[place_B], summary_BN)
