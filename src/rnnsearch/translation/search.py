"""Beam search (section 4.2 and appendix B.2), over many sentences side by side.

Each sentence keeps its `beam` best partial translations, by summed log-probability. One that ends leaves the beam, which
shrinks by it; the sentence is done when nothing is left in its beam, and another takes its seat. No sentence sees another:
scores are computed from its own source alone, and its candidates compete only with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rnnsearch.config import SearchConfig
from rnnsearch.corpus.batches import WIDTH_MULTIPLE, make_batch
from rnnsearch.engine.decoding import Stepper
from rnnsearch.text.vocabulary import END

POSITIONS = 4096
"""Source positions, padding included, that are searched side by side at most, unless one sentence has more."""


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence, as word ids."""

    words: list[int]
    """Without the end symbol."""
    score: float
    """log p(words | source), the end symbol's included if it is finished."""
    finished: bool
    """False if the search ran into the length limit before the end symbol."""
    alignment: NDArray[np.float32] | None
    """α, (words, source positions); None where the model has no alignment."""

    def rank(self, length_normalization: float) -> float:
        """What hypotheses are compared by: log p / length^normalization, the end symbol counted."""
        length = len(self.words) + 1
        return self.score / math.pow(length, length_normalization)


class _Path(NamedTuple):
    """A word of a hypothesis, and the way back to its first."""

    before: _Path | None
    word: int
    alpha_RS: NDArray[np.float32] | None
    row: int
    """The word's row in α."""


@dataclass
class _Beam:
    """One sentence's search."""

    sentence: int
    source_length: int
    ended: list[Hypothesis]

    def end(self, path: _Path | None, score: float, finished: bool, aligns: bool) -> None:
        """Add a hypothesis."""
        words: list[int] = []
        alphas: list[NDArray[np.float32]] = []
        while path is not None:
            words.append(path.word)
            if path.alpha_RS is not None:
                alphas.append(path.alpha_RS[path.row, : self.source_length])
            path = path.before
        alignment = np.array(alphas[::-1], np.float32).reshape(len(words), self.source_length) if aligns else None
        self.ended.append(Hypothesis(words[::-1], score, finished, alignment))


@torch.inference_mode()
def beam_search(
    stepper: Stepper,
    sentences: Sequence[Sequence[int]],
    config: SearchConfig,
    max_steps: int | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each sentence, given as word ids without the end symbol; best first.

    A sentence takes at most `maximum_length_ratio` × its length steps, its end symbol counted, or `max_steps`. Where nothing
    finishes, the unfinished hypotheses are returned, marked so.
    """
    if not sentences:
        return []
    search = _Search(stepper, sentences, config, max_steps)
    while search.seat():
        search.step()
    return [
        sorted(ended, key=lambda hypothesis: -hypothesis.rank(config.length_normalization)) for ended in search.found
    ]


class _Search:
    """Beams in Q seats. Arrays go by seat (Q), or by hypothesis (R), a sentence's hypotheses one after the other."""

    def __init__(
        self, stepper: Stepper, sentences: Sequence[Sequence[int]], config: SearchConfig, max_steps: int | None
    ) -> None:
        longest = max(len(sentence) for sentence in sentences) + 1
        positions = -(-longest // WIDTH_MULTIPLE) * WIDTH_MULTIPLE
        Q = max(1, min(len(sentences), config.batch_sentences, POSITIONS // positions))
        self.found: list[list[Hypothesis]] = [[] for _ in sentences]
        self._sentences, self._config, self._max_steps = sentences, config, max_steps
        self._decoding = stepper.begin(Q, positions)
        # Those of like length are read and searched together; the longest first, so that none is left over at the end.
        self._unread = sorted(range(len(sentences)), key=lambda i: (-len(sentences[i]), i))
        self._read: list[int] = []
        self._admitted = 0
        self._free = list(range(Q))
        self._beams = [_Beam(-1, 0, []) for _ in range(Q)]
        self._width_Q = np.zeros(Q, np.int64)
        self._written_Q = np.zeros(Q, np.int64)
        self._shortest_Q = np.zeros(Q)
        self._longest_Q = np.zeros(Q, np.int64)
        self._seats_R = np.empty(0, np.int64)
        self._scores_R = np.empty(0)
        self._paths: list[_Path | None] = []

    def seat(self) -> bool:
        """Give free seats to sentences that wait; False if there is nothing left to do."""
        while self._free and (self._admitted < len(self._read) or self._unread):
            if self._admitted == len(self._read):
                self._read_more()
            first = self._admitted
            seats = [self._free.pop() for _ in range(min(len(self._free), len(self._read) - first))]
            self._admitted += len(seats)
            for seat, sentence in zip(seats, self._read[first : self._admitted], strict=True):
                length = len(self._sentences[sentence]) + 1
                self._beams[seat] = _Beam(sentence, length, self.found[sentence])
                self._width_Q[seat], self._written_Q[seat] = self._config.beam, 0
                self._shortest_Q[seat] = self._config.minimum_length_ratio * length
                self._longest_Q[seat] = self._max_steps or max(1, int(self._config.maximum_length_ratio * length))
            self._decoding.admit(np.arange(first, self._admitted), np.array(seats))
            self._seats_R = np.concatenate([self._seats_R, seats])
            self._scores_R = np.concatenate([self._scores_R, np.zeros(len(seats))])
            self._paths += [None] * len(seats)
        return len(self._seats_R) > 0

    def _read_more(self) -> None:
        Q = len(self._beams)
        self._read, self._unread, self._admitted = self._unread[:Q], self._unread[Q:], 0
        batch = make_batch([(self._sentences[i], []) for i in self._read])
        self._decoding.read(torch.from_numpy(batch.source_BS), torch.from_numpy(batch.source_lengths_B))

    def step(self) -> None:
        """Write a word more of every hypothesis."""
        seats_R, Q = self._seats_R, len(self._beams)
        prediction = self._decoding.look()
        W = int(self._width_Q[seats_R].max())
        too_short_R = self._written_Q[seats_R] < self._shortest_Q[seats_R]
        log_p_RW, words_RW = prediction.best(W, too_short_R, self._config.forbid_unk)
        alpha_RS = None if prediction.alpha_RS is None else prediction.alpha_RS.float().cpu().numpy()

        # Every hypothesis with each of its words; of each sentence's, as many of the best as its beam is wide.
        totals_X = (self._scores_R[:, np.newaxis] + log_p_RW).ravel()
        is_first_R = np.diff(seats_R, prepend=-1) != 0
        first_rows = np.flatnonzero(is_first_R)
        sentence_R = np.cumsum(is_first_R) - 1
        best_X = np.lexsort((-totals_X, np.repeat(sentence_R, W)))
        parents_X = best_X // W
        rank_X = np.arange(len(best_X)) - W * first_rows[sentence_R[parents_X]]
        best = best_X[(rank_X < self._width_Q[seats_R[parents_X]]) & (totals_X[best_X] > -np.inf)]
        parents, words, scores = best // W, words_RW.ravel()[best], totals_X[best]
        seats = seats_R[parents]

        ends = words == END
        for i in np.flatnonzero(ends).tolist():
            self._beams[seats[i]].end(self._paths[parents[i]], float(scores[i]), True, alpha_RS is not None)
        self._width_Q -= np.bincount(seats[ends], minlength=Q)
        self._written_Q[seats_R[first_rows]] += 1

        def longer(chosen: NDArray[np.int64]) -> list[_Path | None]:
            pairs = zip(parents[chosen].tolist(), words[chosen].tolist(), strict=True)
            return [_Path(self._paths[parent], word, alpha_RS, parent) for parent, word in pairs]

        going = np.flatnonzero(~ends)
        goes_on_Q = (np.bincount(seats[going], minlength=Q) > 0) & (self._written_Q < self._longest_Q)
        for row in first_rows.tolist():
            seat = int(seats_R[row])
            if goes_on_Q[seat]:
                continue
            beam = self._beams[seat]
            self._free.append(seat)
            if beam.ended:
                continue
            # Nothing has finished: what there is breaks off.
            cut = going[seats[going] == seat]
            for path, score in zip(longer(cut), scores[cut].tolist(), strict=True):
                beam.end(path, score, False, alpha_RS is not None)
            if not len(cut):
                # Not even a word more: all are forbidden (the shortlist is nothing but the two symbols).
                beam.end(self._paths[row], float(self._scores_R[row]), False, alpha_RS is not None)

        kept = going[goes_on_Q[seats[going]]]
        self._paths = longer(kept)
        self._seats_R, self._scores_R = seats[kept], scores[kept]
        self._decoding.write(parents[kept], words[kept])
