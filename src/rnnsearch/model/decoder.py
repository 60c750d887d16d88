"""The decoder: first state, context, update (section 3.1, appendix A.2.2)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from rnnsearch.config import ModelConfig
from rnnsearch.model.attention import MLPAlignment, NoAlignment, Source
from rnnsearch.model.cells import CELLS
from rnnsearch.model.layers import DecoderLayer


class Decoder(nn.Module):
    """The target embedding, the alignment model, and the cell that is updated with word and context."""

    def __init__(self, config: ModelConfig, vocabulary_size: int, context_size: int) -> None:
        super().__init__()
        n = config.hidden_size
        self.E = nn.Parameter(torch.zeros(vocabulary_size, config.embedding_size))
        self.sparse_gradient = False
        """As in the encoder."""
        self.W_s = nn.Parameter(torch.zeros(n, n))
        self.b_s = nn.Parameter(torch.zeros(n))
        self.alignment: MLPAlignment | NoAlignment = (
            MLPAlignment(n, context_size, config.alignment_size) if config.alignment == "mlp" else NoAlignment()
        )
        self.cell = CELLS[config.cell](config.embedding_size, n, context_size)
        above = (DecoderLayer(config, context_size) for _ in range(config.decoder_layers - 1))
        self.above = cast("list[DecoderLayer]", nn.ModuleList(above))
        """The further layers, from the bottom up."""

    def first_state(self, source: Source) -> Tensor:
        """s_0 = tanh(W_s h←_1 + b_s), as a state (B, D); RNNencdec has its context in the place of h←_1."""
        return self.cell.first_state(torch.tanh(nn.functional.linear(source.summary_BN, self.W_s, self.b_s)))
