"""Beam search (section 4.2 and appendix B.2), over many sentences side by side.

Each sentence keeps its `beam` best partial translations, by summed log-probability. One that ends leaves the beam, which
shrinks by it; the sentence is done when nothing is left in its beam, and another takes its seat. No sentence sees another:
scores are computed from its own source alone, and its candidates compete only with each other. With a temperature nothing
competes: the translations are drawn, word by word, and chance too is each sentence's own.
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
from rnnsearch.data.batches import WIDTH_MULTIPLE, make_batch
from rnnsearch.search.backend import Integers, Prediction, Stepper
from rnnsearch.text.vocabulary import END

_UNREAD = 1e-3
"""As much attention every source word is taken to have had, so that none costs without limit."""

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

    def rank(self, length_normalization: float, coverage: float = 0.0) -> float:
        """What hypotheses are compared by: log p / length^normalization, the end symbol counted, and the source's coverage.

        The latter is `coverage` · Σ_j log min(1, Σ_i α_ij) over the source words (Wu et al. 2016): what was not read costs.
        """
        length = len(self.words) + 1
        rank = self.score / math.pow(length, length_normalization)
        if coverage and self.alignment is not None:
            read_S = self.alignment[:, :-1].sum(0, dtype=np.float64)
            rank += coverage * float(np.log(read_S.clip(_UNREAD, 1)).sum())
        return rank


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
    prefix: Sequence[int]
    """The words that its translations must begin with."""
    random: np.random.Generator | None
    """Its own chance, where translations are drawn: whatever is drawn for others, it has the same."""

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
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each sentence, given as word ids without the end symbol; best first.

    With `prefixes`, each sentence's translations begin with these words; the stepper then has no shortlist. After its prefix
    a sentence takes at most `maximum_length_ratio` × its length steps, its end symbol counted, or `max_steps`. Where nothing
    finishes, the unfinished hypotheses are returned, marked so.
    """
    if not sentences:
        return []
    search = _Search(stepper, sentences, config, max_steps, prefixes or [()] * len(sentences))
    while search.seat():
        search.step()
    return [
        sorted(ended, key=lambda hypothesis: -hypothesis.rank(config.length_normalization, config.coverage))
        for ended in search.found
    ]


class _Search:
    """Beams in Q seats. Arrays go by seat (Q), or by hypothesis (R), a sentence's hypotheses one after the other."""

    def __init__(
        self,
        stepper: Stepper,
        sentences: Sequence[Sequence[int]],
        config: SearchConfig,
        max_steps: int | None,
        prefixes: Sequence[Sequence[int]],
    ) -> None:
        longest = max(len(sentence) for sentence in sentences) + 1
        positions = -(-longest // WIDTH_MULTIPLE) * WIDTH_MULTIPLE
        Q = max(1, min(len(sentences), config.batch_sentences, POSITIONS // positions))
        self.found: list[list[Hypothesis]] = [[] for _ in sentences]
        self._sentences, self._config, self._max_steps, self._prefixes = sentences, config, max_steps, prefixes
        self._forces = any(prefixes)
        self._decoding = stepper.begin(Q, positions)
        # Those of like length are read and searched together; the longest first, so that none is left over at the end.
        self._unread = sorted(range(len(sentences)), key=lambda i: (-len(sentences[i]), i))
        self._read: list[int] = []
        self._admitted = 0
        self._free = list(range(Q))
        self._beams = [_Beam(-1, 0, [], (), None) for _ in range(Q)]
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
                words, prefix = self._sentences[sentence], self._prefixes[sentence]
                length = len(words) + 1
                random = np.random.default_rng([self._config.seed, *words]) if self._config.temperature else None
                self._beams[seat] = _Beam(sentence, length, self.found[sentence], prefix, random)
                self._width_Q[seat], self._written_Q[seat] = self._config.beam, 0
                self._shortest_Q[seat] = self._config.minimum_length_ratio * length
                longest = self._max_steps or max(1, int(self._config.maximum_length_ratio * length))
                self._longest_Q[seat] = longest + len(prefix)
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
        alpha_RS = None if prediction.alpha_RS is None else prediction.alpha_RS.float().cpu().numpy()
        is_first_R = self._is_first()
        parents, words, scores = (
            self._drawn(prediction) if self._config.temperature else self._best(prediction, is_first_R)
        )
        first_rows, seats = np.flatnonzero(is_first_R), seats_R[parents]

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

    def _best(
        self, prediction: Prediction, is_first_R: NDArray[np.bool_]
    ) -> tuple[Integers, Integers, NDArray[np.float64]]:
        """The hypotheses to go on with, the words to go on with, and their scores: of each sentence's, the best."""
        seats_R, config = self._seats_R, self._config
        W = int(self._width_Q[seats_R].max())
        forced, forced_words, forced_log_p = self._forced(prediction)
        log_p_RW, words_RW = prediction.best(W, self._too_short(), config.forbid_unk)
        if len(forced):
            log_p_RW[forced], words_RW[forced] = -np.inf, 0
            log_p_RW[forced, 0], words_RW[forced, 0] = forced_log_p, forced_words

        # Every hypothesis with each of its words; of each sentence's, as many of the best as its beam is wide.
        totals_RW = self._scores_R[:, np.newaxis] + log_p_RW
        totals_X = totals_RW.ravel()
        competing_X = (totals_RW - config.diversity * np.arange(W)).ravel() if config.diversity else totals_X
        first_rows, sentence_R = np.flatnonzero(is_first_R), np.cumsum(is_first_R) - 1
        best_X = np.lexsort((-competing_X, np.repeat(sentence_R, W)))
        parents_X = best_X // W
        rank_X = np.arange(len(best_X)) - W * first_rows[sentence_R[parents_X]]
        best = best_X[(rank_X < self._width_Q[seats_R[parents_X]]) & (totals_X[best_X] > -np.inf)]
        return best // W, words_RW.ravel()[best], totals_X[best]

    def _drawn(self, prediction: Prediction) -> tuple[Integers, Integers, NDArray[np.float64]]:
        """As `_best`, but a word of every hypothesis is drawn; a sentence's first word, as often as its beam is wide."""
        seats_R, config = self._seats_R, self._config
        draws_R = np.where(self._written_Q[seats_R] == 0, self._width_Q[seats_R], 1)
        chances_RX = np.zeros((len(seats_R), int(draws_R.max())))
        for row, draws in enumerate(draws_R.tolist()):
            random = self._beams[seats_R[row]].random
            assert random is not None
            chances_RX[row, :draws] = random.random(draws)
        forced, forced_words, forced_log_p = self._forced(prediction)
        log_p_RX, words_RX = prediction.draw(chances_RX, config.temperature, self._too_short(), config.forbid_unk)
        log_p_RX[forced], words_RX[forced] = forced_log_p[:, np.newaxis], forced_words[:, np.newaxis]
        parents, columns = np.nonzero(np.arange(chances_RX.shape[1]) < draws_R[:, np.newaxis])
        scores = self._scores_R[parents] + log_p_RX[parents, columns]
        possible = scores > -np.inf
        return parents[possible], words_RX[parents, columns][possible], scores[possible]

    def _is_first(self) -> NDArray[np.bool_]:
        """Which hypotheses are the first of their sentence's."""
        is_first_R = np.ones(len(self._seats_R), np.bool_)
        np.not_equal(self._seats_R[1:], self._seats_R[:-1], out=is_first_R[1:])
        return is_first_R

    def _too_short(self) -> NDArray[np.bool_]:
        """Which hypotheses may not end yet."""
        too_short_R: NDArray[np.bool_] = self._written_Q[self._seats_R] < self._shortest_Q[self._seats_R]
        return too_short_R

    def _forced(self, prediction: Prediction) -> tuple[Integers, Integers, NDArray[np.float64]]:
        """The rows whose next word is given, this word, and its log p."""
        rows, words = [], []
        for row, seat in enumerate(self._seats_R.tolist() if self._forces else []):
            prefix, written = self._beams[seat].prefix, int(self._written_Q[seat])
            if written < len(prefix):
                rows.append(row)
                words.append(prefix[written])
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        words_R = np.zeros(len(self._seats_R), np.int64)
        words_R[rows] = words
        return np.array(rows), np.array(words), prediction.given(words_R)[rows]
