"""Ensembles of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnsearch.search.backend import Backend, Integers, Prediction, SearchSession, best_words


class EnsembleBackend:
    """An ensemble of models with the same vocabularies, which averages their probabilities and their attention weights.

    p(y_i) = 1/M Σ_m p_m(y_i), over the M models; log p is the logarithm of this mean.
    """

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = backends

    def session(self) -> EnsembleSession:
        return EnsembleSession([backend.session() for backend in self._backends])

    def has_room(self, rows: int, positions: int) -> bool:
        return all(backend.has_room(rows, positions) for backend in self._backends)


class EnsembleSession:
    """A search in all members at once, which extend the same hypotheses. See `SearchSession`."""

    def __init__(self, members: Sequence[SearchSession]) -> None:
        self._members = members

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        for member in self._members:
            member.encode(x_BS, lengths_B)

    def add(self, sentences_b: Integers) -> None:
        for member in self._members:
            member.add(sentences_b)

    def predict(self, count: int, whole: bool = False) -> Prediction:
        # The mean needs the whole distribution of every member.
        predictions = [member.predict(1, whole=True) for member in self._members]
        alphas = [one.alpha_RS for one in predictions if one.alpha_RS is not None]
        wholes = [one.log_p_RV for one in predictions if one.log_p_RV is not None]
        p_RV = sum((np.exp(log_p_RV) for log_p_RV in wholes[1:]), np.exp(wholes[0])) / np.float32(len(wholes))
        with np.errstate(divide="ignore"):
            log_p_RV = np.log(p_RV)
        # All members select the same words, so that the columns of their distributions agree.
        log_p_RW, words_RW = best_words(log_p_RV, count)
        ids_RV = predictions[0].ids_RV
        # The mean of the attention weights. Members may pad sources to different lengths, with weights of zero.
        S = max((alpha_RS.shape[1] for alpha_RS in alphas), default=0)
        alphas = [np.pad(alpha_RS, ((0, 0), (0, S - alpha_RS.shape[1]))) for alpha_RS in alphas]
        return Prediction(
            words_RW=words_RW if ids_RV is None else np.take_along_axis(ids_RV, words_RW, 1),
            log_p_RW=log_p_RW,
            alpha_RS=np.stack(alphas).mean(0) if alphas else None,
            log_p_RV=log_p_RV if whole else None,
            ids_RV=ids_RV,
        )

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        for member in self._members:
            member.advance(parents_r, words_r)
