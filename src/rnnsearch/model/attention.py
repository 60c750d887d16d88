"""The alignment model a: what the decoder reads of the source at each step (section 3.1, appendix A.1.2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Source:
    """A batch of source sentences, encoded: everything the decoder may read of them."""

    annotations_BSC: Tensor
    """h_j, for every source position; past a sentence's end their values mean nothing."""
    real_BS: Tensor
    """True where a position belongs to its sentence."""
    summary_BN: Tensor
    """What the decoder's first state is made of: h←_1 in RNNsearch, h→_Tx in RNNencdec."""
    keys_BSA: Tensor | None = None
    """U_a h_j, the half of the alignment model that does not depend on the decoder's state."""

    def select(self, sentences_b: Tensor) -> Source:
        """The sentences of the given indices, in that order, without the positions none of them needs."""
        real_bS = self.real_BS[sentences_b]
        S = int(real_bS.sum(1).max())
        return Source(
            self.annotations_BSC[sentences_b, :S],
            real_bS[:, :S],
            self.summary_BN[sentences_b],
            None if self.keys_BSA is None else self.keys_BSA[sentences_b, :S],
        )

    def beside(self, other: Source) -> Source:
        """These sentences and others, padded to the longest."""
        S = max(self.real_BS.shape[1], other.real_BS.shape[1])

        def padded(one: Tensor, two: Tensor) -> Tensor:
            past_end = [(0, 0) * (x.dim() - 2) + (0, S - x.shape[1]) for x in (one, two)]
            return torch.cat([nn.functional.pad(x, pad) for x, pad in zip((one, two), past_end, strict=True)])

        return Source(
            padded(self.annotations_BSC, other.annotations_BSC),
            padded(self.real_BS, other.real_BS),
            torch.cat([self.summary_BN, other.summary_BN]),
            None if self.keys_BSA is None or other.keys_BSA is None else padded(self.keys_BSA, other.keys_BSA),
        )


class MLPAlignment(nn.Module):
    """Additive attention: e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), α_i = softmax_j(e_ij), c_i = Σ_j α_ij h_j."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.zeros(alignment_size, hidden_size))
        self.U_a = nn.Parameter(torch.zeros(alignment_size, context_size))
        self.v_a = nn.Parameter(torch.zeros(alignment_size))

    def keys(self, annotations_BSC: Tensor) -> Tensor:
        """U_a h_j, (B, S, A): once a sentence, not once a step."""
        return nn.functional.linear(annotations_BSC, self.U_a)

    def attend(self, s_BKN: Tensor, source: Source) -> tuple[Tensor, Tensor]:
        """From the states s_{i−1} to the contexts c_i (B, K, C) and the alignments α_i (B, K, S)."""
        assert source.keys_BSA is not None
        query_BK1A = nn.functional.linear(s_BKN, self.W_a).unsqueeze(2)
        energy_BKS = torch.tanh(query_BK1A + source.keys_BSA.unsqueeze(1)) @ self.v_a
        energy_BKS = energy_BKS.masked_fill(~source.real_BS.unsqueeze(1), -torch.inf)
        alpha_BKS = torch.softmax(energy_BKS, -1)
        return torch.bmm(alpha_BKS, source.annotations_BSC), alpha_BKS


class NoAlignment(nn.Module):
    """RNNencdec: the context is the encoder's last state, c_i = h→_Tx, at every step (Cho et al. 2014a)."""

    def keys(self, annotations_BSC: Tensor) -> None:
        return None

    def attend(self, s_BKN: Tensor, source: Source) -> tuple[Tensor, None]:
        return source.summary_BN.unsqueeze(1).expand(-1, s_BKN.shape[1], -1), None
