"""Ensembles of several models."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rnnsearch.search.backend import Backend, Integers, Prediction, SearchSession


class EnsembleBackend:
    """An ensemble of models with the same vocabularies: the mean of their probabilities, and of their attention weights."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = backends

    def session(self, slots: int, positions: int) -> EnsembleSession:
        return EnsembleSession([backend.session(slots, positions) for backend in self._backends])


class EnsembleSession:
    """See `SearchSession`."""

    def __init__(self, members: Sequence[SearchSession]) -> None:
        self._members = members

    def encode(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        for member in self._members:
            member.encode(x_BS, lengths_B)

    def add(self, sentences_b: Integers, slots_b: Integers) -> None:
        for member in self._members:
            member.add(sentences_b, slots_b)

    def predict(self) -> Prediction:
        predictions = [member.predict() for member in self._members]
        first, alphas = predictions[0], [p.alpha_RS for p in predictions if p.alpha_RS is not None]

        def log_mean(rows: slice) -> tuple[Tensor, Tensor]:
            p_RV: Tensor | None = None
            for member in predictions:
                product_RV, factor_R = member.products(rows)
                member_p_RV = torch.softmax(product_RV * factor_R.unsqueeze(1) + member.bias_V, 1)
                p_RV = member_p_RV if p_RV is None else p_RV.add_(member_p_RV)
            assert p_RV is not None
            return p_RV.log_(), torch.ones_like(factor_R)

        # A member may keep positions past the ends of all sentences, where its weights are zero.
        S = max((alpha_RS.shape[1] for alpha_RS in alphas), default=0)
        alphas = [torch.nn.functional.pad(alpha_RS, (0, S - alpha_RS.shape[1])) for alpha_RS in alphas]
        return Prediction(
            rows=first.rows,
            products=log_mean,
            bias_V=torch.zeros_like(first.bias_V),
            alpha_RS=torch.stack(alphas).mean(0) if alphas else None,
            candidates_RX=first.candidates_RX,
        )

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        for member in self._members:
            member.advance(parents_r, words_r)
