"""What is called Bahdanau's attention elsewhere, as a plugin: `rnnsearch --plugin attention_variants.py train …`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.model import AdditiveAttention, Attention, attend
from rnnsearch.model.attention import Attended
from rnnsearch.model.cells import GatedCell
from rnnsearch.model.source import Source


class ReluAttention(AdditiveAttention, name="additive-relu"):
    """e_ij = v_aᵀ relu(W_a s_{i−1} + U_a h_j)."""

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        query_BKA = nn.functional.linear(s_BKN, self.W_a)
        energy_BKS = torch.relu(query_BKA.unsqueeze(2) + source.keys_BSA.unsqueeze(1)) @ self.v_a
        return attend(energy_BKS, source)


class PositionAttention(Attention, name="positions"):
    """e_i = W_p s_{i−1} + b_p, a number for each position of the source, whatever stands there.

    PyTorch's tutorial on translation computed its weights so until June 2023, from the state and the word before, which here
    is in the state. Positions beyond `LONGEST` have the weight zero.
    """

    LONGEST = 128

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.W_p = nn.Parameter(torch.zeros(self.LONGEST, hidden_size))
        self.b_p = nn.Parameter(torch.zeros(self.LONGEST))

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        energy_BKS = nn.functional.linear(s_BKN, self.W_p, self.b_p)
        beyond = source.mask_BS.shape[1] - self.LONGEST
        lowest = torch.finfo(energy_BKS.dtype).min
        return attend(nn.functional.pad(energy_BKS, (0, beyond), value=lowest), source)


class ContextFreeCell(GatedCell, name="context-free"):
    """The gated unit without c_i: the context enters the readout alone, as in Luong et al. (2015) without input feeding."""

    def stacked(self, matrix: str, *gates: str) -> Tensor:
        stacked = super().stacked(matrix, *gates)
        return torch.zeros_like(stacked) * stacked if matrix == "C" else stacked


class ResetAfterCell(GatedCell, name="reset-after"):
    """The unit of cuDNN and `torch.nn.GRU`: s~ = tanh(W x + r ∘ (U s) + C c + b)."""

    def step(self, weights: tuple[Tensor, ...], state: Tensor, inputs: Tensor) -> Tensor:
        U, U_zr = weights
        N = self.hidden_size
        z, r = torch.sigmoid(inputs[..., N:] + nn.functional.linear(state, U_zr)).chunk(2, -1)
        candidate = torch.tanh(inputs[..., :N] + r * nn.functional.linear(state, U))
        return state + z * (candidate - state)
