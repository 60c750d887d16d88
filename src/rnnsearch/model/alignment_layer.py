"""The alignment layer: which words of two given sentences are translations of each other."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.model.rnnsearch import RNNsearch, TeacherForcedOutput

_FEATURES = 6
_REACH = 2
_FAR = -1e4
"""The energy of what is not there."""


class AlignmentLayer(nn.Module):
    """The probability of a link, learned on top of a model whose weights stay as they are (Zenkel, Wuebker and DeNero 2020).

    Attention decides what to read before the word that it reads for is known, and it reads whatever helps to predict that
    word. This layer sees both sentences whole: the states before and after the word y_i, the word itself and the next one,

        e_ij = q_i · k_j,  q_i = tanh(W_l [s_{i−1}; s_i; E y_i; E y_{i+1}] + b_l),  k_j = U_l [h_j; E x_j]

    as well as what the other words of both sentences claim, p→_ij = softmax_j(e_ij) and p←_ij = softmax_i(e_ij), and what
    is linked around, m_ij = (p→_ij p←_ij)^½. The probability of a link is

        p_ij = σ(w_l · f_ij + (K ∗ m)_ij + c_l)

    where f_ij = (e_ij, ln p→_ij, ln p←_ij, α_ij, α_{i+1,j}, |i/Ty − j/Tx|) and K is of 5 × 5. Each p_ij stands by itself:
    a word may be linked to several words, or to none.
    """

    def __init__(self, model: RNNsearch) -> None:
        """For this model, which has an alignment."""
        super().__init__()
        config = model.config
        A, E = config.alignment_size, config.embedding_size
        self.W_l = nn.Parameter(torch.zeros(A, 2 * config.hidden_size + 2 * E))
        self.U_l = nn.Parameter(torch.zeros(A, model.encoder.context_size + E))
        self.b_l = nn.Parameter(torch.zeros(A))
        self.w_l = nn.Parameter(torch.zeros(_FEATURES))
        self.K = nn.Parameter(torch.zeros(2 * _REACH + 1, 2 * _REACH + 1))
        self.c_l = nn.Parameter(torch.zeros(1))

    @torch.no_grad()
    def initialize(self, seed: int) -> None:
        """Set random initial weights, which depend on the seed only; at first, p_ij is that of both directions together."""
        generator = torch.Generator().manual_seed(seed)
        for matrix in (self.W_l, self.U_l):
            nn.init.xavier_uniform_(matrix, generator=generator)
        self.w_l[1:3] = 0.5

    def forward(
        self,
        model: RNNsearch,
        output: TeacherForcedOutput,
        x_BS: Tensor,
        x_lengths_B: Tensor,
        y_BT: Tensor,
        y_lengths_B: Tensor,
    ) -> Tensor:
        """The logits of p_ij, (B, T, S), for what `model` has read; those of padding and end symbols mean nothing."""
        decoded, (T, S) = output.decoded, (y_BT.shape[1], x_BS.shape[1])
        assert decoded.alpha_TBS is not None
        mask_BT1, mask_B1S = _mask(y_lengths_B, T).unsqueeze(2), output.source.mask_BS.unsqueeze(1)
        mask_BTS = mask_BT1 & mask_B1S
        states_BTN = decoded.states_TBN.transpose(0, 1)
        y_BTE = _where(mask_BT1, nn.functional.embedding(y_BT, model.decoder.E))  # after the end symbol there is nothing
        read_BTX = torch.cat([states_BTN[:, :-1], states_BTN[:, 1:], y_BTE, _next(y_BTE)], 2).float()
        query_BTA = torch.tanh(nn.functional.linear(_where(mask_BT1, read_BTX), self.W_l, self.b_l))
        x_BSE = nn.functional.embedding(x_BS, model.encoder.E)
        read_BSX = torch.cat([output.source.annotations_BSC, x_BSE], 2).float()
        key_BSA = nn.functional.linear(_where(mask_B1S.transpose(1, 2), read_BSX), self.U_l)

        energy_BTS = torch.where(mask_BTS, query_BTA @ key_BSA.transpose(1, 2), _FAR)
        log_forward_BTS, log_backward_BTS = energy_BTS.log_softmax(2), energy_BTS.log_softmax(1)
        linked_BTS = _where(mask_BTS, (0.5 * (log_forward_BTS + log_backward_BTS)).exp())
        around_BTS = nn.functional.conv2d(linked_BTS.unsqueeze(1), self.K[None, None], padding=_REACH).squeeze(1)
        alpha_BTS = decoded.alpha_TBS.transpose(0, 1).float()
        away_BTS = (_places(y_lengths_B, T).unsqueeze(2) - _places(x_lengths_B, S).unsqueeze(1)).abs()
        features = energy_BTS, log_forward_BTS, log_backward_BTS, alpha_BTS, _next(alpha_BTS), away_BTS
        features_BTSX = torch.stack([_where(mask_BTS, feature) for feature in features], 3)
        return features_BTSX @ self.w_l + around_BTS + self.c_l


def _next(steps_BTX: Tensor) -> Tensor:
    """What the next step has; the last one has nothing after it."""
    return nn.functional.pad(steps_BTX[:, 1:], (0, 0, 0, 1))


def _where(mask: Tensor, values: Tensor) -> Tensor:
    """Zero in place of what is undefined."""
    return torch.where(mask, values, 0.0)


def _mask(lengths_B: Tensor, positions: int) -> Tensor:
    return torch.arange(positions, device=lengths_B.device) < lengths_B.unsqueeze(1)


def _places(lengths_B: Tensor, positions: int) -> Tensor:
    """The place of each position in its sentence, from 0 to 1."""
    return (torch.arange(positions, device=lengths_B.device) + 0.5) / lengths_B.unsqueeze(1)
