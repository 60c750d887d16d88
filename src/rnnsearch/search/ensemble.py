"""Ensembles of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnsearch.search.backend import Backend, Integers, Prediction, SearchSession, best_words


class EnsembleBackend:
    """An ensemble of models with the same vocabularies: the mean of their probabilities, and of their attention weights."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = backends

    def session(self) -> EnsembleSession:
        return EnsembleSession([backend.session() for backend in self._backends])

    def has_room(self, rows: int, positions: int) -> bool:
        return all(backend.has_room(rows, positions) for backend in self._backends)


class EnsembleSession:
    """See `SearchSession`."""

    def __init__(self, members: Sequence[SearchSession]) -> None:
        self._members = members

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        for member in self._members:
            member.encode(x_BS, lengths_B)

    def add(self, sentences_b: Integers) -> None:
        for member in self._members:
            member.add(sentences_b)

    def predict(self, count: int, whole: bool = False) -> Prediction:
        predictions = [member.predict(1, whole=True) for member in self._members]
        alphas = [one.alpha_RS for one in predictions if one.alpha_RS is not None]
        wholes = [one.log_p_RV for one in predictions if one.log_p_RV is not None]
        p_RV = sum((np.exp(log_p_RV) for log_p_RV in wholes[1:]), np.exp(wholes[0])) / np.float32(len(wholes))
        with np.errstate(divide="ignore"):
            log_p_RV = np.log(p_RV)
        log_p_RW, words_RW = best_words(log_p_RV, count)
        ids_RV = predictions[0].ids_RV
        # A member may keep positions past the ends of all sentences, where its weights are zero.
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
