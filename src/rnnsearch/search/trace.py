"""The recording of a beam search: the hypotheses in the beam after each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rnnsearch.search.backend import Backend, Integers, Prediction, SearchSession


class Partial(NamedTuple):
    """A hypothesis in the beam, as word ids, with its log-probability in nats."""

    words: tuple[int, ...]
    score: float


class TracedBackend:
    """A backend that records the beam after each step of the search for a single sentence. See `Backend`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.beams: list[list[Partial]] = []
        """The unfinished hypotheses after each step."""

    def session(self) -> SearchSession:
        return _TracedSession(self._backend.session(), self.beams)

    def has_room(self, rows: int, positions: int) -> bool:
        return self._backend.has_room(rows, positions)


class _TracedSession:
    """A session that records the rows after each `advance`. See `SearchSession`."""

    def __init__(self, session: SearchSession, beams: list[list[Partial]]) -> None:
        self._session, self._beams = session, beams
        self._rows = [Partial((), 0.0)]

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        self._session.encode(x_BS, lengths_B)

    def add(self, sentences_b: Integers) -> None:
        self._session.add(sentences_b)

    def predict(self, count: int, whole: bool = False) -> Prediction:
        self._prediction = self._session.predict(count, whole)
        return self._prediction

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        self._session.advance(parents_r, words_r)
        self._rows = [self._extended(*pair) for pair in zip(parents_r.tolist(), words_r.tolist(), strict=True)]
        self._beams.append(self._rows)

    def _extended(self, parent: int, word: int) -> Partial:
        """Return the row `parent` with a further word, whose log p is in the last prediction."""
        place = int(np.flatnonzero(self._prediction.words_RW[parent] == word)[0])
        before = self._rows[parent]
        return Partial((*before.words, word), before.score + float(self._prediction.log_p_RW[parent, place]))
