"""The alignment layer, which predicts the word links between a sentence and its translation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.model.rnnsearch import RNNsearch, TeacherForcedOutput

_FEATURES = 6
"""The number of features f_ij."""
_REACH = 2
"""The filter K covers this many words on each side."""
_FAR = -1e4
"""The energy of padding, at which the softmax is zero."""


class AlignmentLayer(nn.Module):
    """The probability of each link, learned on top of a model whose weights stay fixed (Zenkel, Wuebker and DeNero 2020).

    The attention weights α_i are computed before the target word y_i is known, and attend to any word that helps to predict
    it. This layer reads both complete sentences. The energy of a link depends on the states before and after y_i, on y_i and
    on the next word:

        e_ij = q_i · k_j,  q_i = tanh(W_l [s_{i−1}; s_i; E y_i; E y_{i+1}] + b_l),  k_j = U_l [h_j; E x_j]

    The other words of both sentences compete for the link, with p→_ij = softmax_j(e_ij) and p←_ij = softmax_i(e_ij), and the
    links of the neighbouring words count, as m_ij = (p→_ij p←_ij)^½. The probability of a link is

        p_ij = σ(w_l · f_ij + (K ∗ m)_ij + c_l)

    with the features f_ij = (e_ij, ln p→_ij, ln p←_ij, α_ij, α_{i+1,j}, |i/Ty − j/Tx|) and a filter K of 5 × 5. The p_ij are
    independent of each other: a word may be linked to several words, or to none.
    """

    def __init__(self, model: RNNsearch) -> None:
        """Create a layer, with all parameters zero, for a model that has an alignment."""
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
        """Set random initial weights, which depend on the seed only. Initially, w_l combines p→_ij and p←_ij alone."""
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
        """Return the logits of p_ij, (B, T, S), from the output of `model` for sources x and their translations y.

        The logits of padding and of end symbols are meaningless.
        """
        decoded, (T, S) = output.decoded, (y_BT.shape[1], x_BS.shape[1])
        assert decoded.alpha_TBS is not None
        mask_BT1, mask_B1S = _mask(y_lengths_B, T).unsqueeze(2), output.source.mask_BS.unsqueeze(1)
        mask_BTS = mask_BT1 & mask_B1S
        states_BTN = decoded.states_TBN.transpose(0, 1)
        # The queries q_i of the target words and the keys k_j of the source words; embeddings past the end symbol are zero.
        y_BTE = _where(mask_BT1, nn.functional.embedding(y_BT, model.decoder.E))
        query_input_BTX = torch.cat([states_BTN[:, :-1], states_BTN[:, 1:], y_BTE, _next(y_BTE)], 2).float()
        query_BTA = torch.tanh(nn.functional.linear(_where(mask_BT1, query_input_BTX), self.W_l, self.b_l))
        x_BSE = nn.functional.embedding(x_BS, model.encoder.E)
        key_input_BSX = torch.cat([output.source.annotations_BSC, x_BSE], 2).float()
        key_BSA = nn.functional.linear(_where(mask_B1S.transpose(1, 2), key_input_BSX), self.U_l)

        # The energies e_ij; p→_ij and p←_ij, the softmaxes over source and over target positions; and the filter K over
        # m_ij = (p→_ij p←_ij)^½.
        energy_BTS = torch.where(mask_BTS, query_BTA @ key_BSA.transpose(1, 2), _FAR)
        log_forward_BTS, log_backward_BTS = energy_BTS.log_softmax(2), energy_BTS.log_softmax(1)
        linked_BTS = _where(mask_BTS, (0.5 * (log_forward_BTS + log_backward_BTS)).exp())
        neighbours_BTS = nn.functional.conv2d(linked_BTS.unsqueeze(1), self.K[None, None], padding=_REACH).squeeze(1)
        # The features f_ij: attention weights of this word and of the next one, and the distance of relative positions.
        alpha_BTS = decoded.alpha_TBS.transpose(0, 1).float()
        distance_BTS = (
            _relative_positions(y_lengths_B, T).unsqueeze(2) - _relative_positions(x_lengths_B, S).unsqueeze(1)
        ).abs()
        features = energy_BTS, log_forward_BTS, log_backward_BTS, alpha_BTS, _next(alpha_BTS), distance_BTS
        features_BTSX = torch.stack([_where(mask_BTS, feature) for feature in features], 3)
        # The logit w_l · f_ij + (K ∗ m)_ij + c_l.
        return features_BTSX @ self.w_l + neighbours_BTS + self.c_l


def _next(steps_BTX: Tensor) -> Tensor:
    """Return the values of the next step in place of each step's own; zero at the last step."""
    return nn.functional.pad(steps_BTX[:, 1:], (0, 0, 0, 1))


def _where(mask: Tensor, values: Tensor) -> Tensor:
    """Return the values where the mask is True, and zero elsewhere."""
    return torch.where(mask, values, 0.0)


def _mask(lengths_B: Tensor, positions: int) -> Tensor:
    """Return a mask (B, positions) that is True up to each length."""
    return torch.arange(positions, device=lengths_B.device) < lengths_B.unsqueeze(1)


def _relative_positions(lengths_B: Tensor, positions: int) -> Tensor:
    """Return the relative position, from 0 to 1, of each word in its sentence."""
    return (torch.arange(positions, device=lengths_B.device) + 0.5) / lengths_B.unsqueeze(1)
