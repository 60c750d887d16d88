"""The alignment model a: what the decoder attends to at each step (section 3.1, appendix A.1.2).

The paper lets one choose a freely. A new alignment model is one more subclass of `Attention` and one line in `ATTENTIONS`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from rnnsearch.model.source import Source


class Attended(NamedTuple):
    """What attention finds at one step, for K hypotheses of each of B sentences."""

    context_BKC: Tensor
    """c_i = Σ_j α_ij h_j."""
    alpha_BKS: Tensor | None
    """α_i; None where there is no alignment model."""
    memory_BKX: Tensor | None = None
    """What the alignment model is given again at the next step; None where it needs nothing."""


class Attention(nn.Module):
    """An alignment model: from the state s_{i−1} and the annotations h_j to the weights α_i and the context c_i."""

    aligns: ClassVar[bool] = True
    """Whether there are weights α to show."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        """Sizes N of a state, C of an annotation, and A, which an alignment model may use as it likes."""
        super().__init__()

    def keys(self, annotations_BSC: Tensor) -> Tensor | None:
        """What depends on the annotations alone, (B, S, A): computed once a sentence, not once a step."""
        return None

    def first_memory(self, source: Source) -> Tensor | None:
        """The memory (B, 1, X) that the first step is given."""
        return None

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        """Attend with the states s_{i−1}."""
        raise NotImplementedError


class AdditiveAttention(Attention):
    """The paper's: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), α_i = softmax_j(e_ij), c_i = Σ_j α_ij h_j."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.W_a = nn.Parameter(torch.zeros(alignment_size, hidden_size))
        self.U_a = nn.Parameter(torch.zeros(alignment_size, context_size))
        self.v_a = nn.Parameter(torch.zeros(alignment_size))

    def keys(self, annotations_BSC: Tensor) -> Tensor:
        """U_a h_j."""
        return nn.functional.linear(annotations_BSC, self.U_a)

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        query_BK1A = nn.functional.linear(s_BKN, self.W_a).unsqueeze(2)
        energy_BKS = torch.tanh(query_BK1A + source.keys_BSA.unsqueeze(1)) @ self.v_a
        return attend(energy_BKS, source)


class FixedContext(Attention):
    """No alignment model: RNNencdec, whose context at every step is the encoder's last state, c_i = h→_Tx (section 2.1)."""

    aligns = False

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        return Attended(source.summary_BN.unsqueeze(1).expand(-1, s_BKN.shape[1], -1), None)


def attend(energy_BKS: Tensor, source: Source) -> Attended:
    """α_i = softmax_j(e_ij) over a sentence's own positions, and c_i = Σ_j α_ij h_j."""
    alpha_BKS = torch.softmax(energy_BKS.masked_fill(~source.mask_BS.unsqueeze(1), -torch.inf), -1)
    return Attended(torch.bmm(alpha_BKS, source.annotations_BSC), alpha_BKS)


ATTENTIONS: dict[str, type[Attention]] = {"mlp": AdditiveAttention, "none": FixedContext}
"""The alignment models by the name that `model.alignment` gives them."""
