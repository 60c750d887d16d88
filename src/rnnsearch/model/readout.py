"""The deep output with a maxout layer (appendix A.2.2; Goodfellow et al. 2013)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.config import ModelConfig
from rnnsearch.model.layers import layer_norm


class Readout(nn.Module):
    """The distribution of the next word: p(y_i) = softmax(W_o t_i + b_w), from a maxout layer t_i.

    t_ij = max(t~_{i,2j−1}, t~_{i,2j}), with t~_i = U_o s + V_o E y_{i−1} + C_o c_i + b_o.
    """

    def __init__(self, config: ModelConfig, vocabulary_size: int, context_size: int) -> None:
        super().__init__()
        twice = 2 * config.maxout_size
        self.U_o = nn.Parameter(torch.zeros(twice, config.hidden_size))
        self.V_o = nn.Parameter(torch.zeros(twice, config.embedding_size))
        self.C_o = nn.Parameter(torch.zeros(twice, context_size))
        self.b_o = nn.Parameter(torch.zeros(twice))
        self.W_o = nn.Parameter(torch.zeros(vocabulary_size, config.maxout_size))
        self.b_w = nn.Parameter(torch.zeros(vocabulary_size))
        self.norm = layer_norm(config, config.maxout_size)

    def hidden(self, s: Tensor, y: Tensor, c: Tensor, dropout: float = 0.0) -> Tensor:
        """Return t (…, L) from a state (…, N), the embedding of the previous word (…, E) and a context (…, C)."""
        # t~ = U_o s + V_o E y_{i−1} + C_o c_i + b_o (…, 2L), and the maximum of each pair of neighbours.
        linear = nn.functional.linear
        t = linear(s, self.U_o, self.b_o) + linear(y, self.V_o) + linear(c, self.C_o)
        return ops.dropout(self.norm(t.unflatten(-1, (-1, 2)).amax(-1)), dropout)

    def logits(self, t: Tensor) -> Tensor:
        """Return W_o t + b_w, from (…, L) to (…, V)."""
        return nn.functional.linear(t, self.W_o, self.b_w)

    def forward(self, s: Tensor, y: Tensor, c: Tensor) -> Tensor:
        """Return the logits (…, V); the arguments are those of `hidden`."""
        return self.logits(self.hidden(s, y, c))
