"""Beam search over many sentences in parallel (Graves 2012; Boulanger-Lewandowski et al. 2013).

Each sentence keeps its `beam` best partial translations, by summed log-probability. A translation that ends leaves the beam
and makes it narrower by one. When its beam is empty, a sentence is done and another takes its slot. Sentences do not affect
each other: scores depend on the sentence's own source alone, and only hypotheses of the same sentence compete. With a
temperature, translations are sampled word by word instead; each sentence has its own random generator. `Terms` steer the
search for sentences whose translations have to contain given words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import SearchConfig
from rnnsearch.data.batches import WIDTH_MULTIPLE, make_batch
from rnnsearch.jobs.processes import threads
from rnnsearch.search.backend import Backend, Integers, Prediction, SearchSession
from rnnsearch.search.constraints import Constraints, without
from rnnsearch.search.ranking import Ranking, best_first
from rnnsearch.search.repetition import Repetition
from rnnsearch.search.terms import DOUBLED, Progress, Terms
from rnnsearch.text.vocabulary import END

FEW = 8
"""The smallest number of sentences for which a search gets a thread of its own."""
_NOTHING = np.empty(0, np.int64), np.empty(0, np.int64)


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence, as word ids."""

    words: list[int]
    """The word ids, without the end symbol."""
    score: float
    """log p(words | source) in nats; it includes the end symbol if the hypothesis is finished."""
    finished: bool
    """False if search stopped before the end symbol, usually at the length limit."""
    alignment: NDArray[np.float32] | None
    """α, (words, source positions); None if the model has no alignment."""
    end_alignment: NDArray[np.float32] | None = None
    """α of the step that produced the end symbol, (source positions); None also for an unfinished hypothesis."""
    terms: Sequence[tuple[int, int]] = ()
    """The terms in the hypothesis: the number of each, and the position of its first word."""
    doubled: int = 0
    """The number of terms whose source words are translated by other words than the term."""


class _Path(NamedTuple):
    """The last word of a hypothesis, linked to the words before it."""

    before: _Path | None
    word: int
    alpha_RS: NDArray[np.float32] | None
    row: int
    """The row of this word in α."""
    progress: Progress | None
    """The progress of the hypothesis with the terms; None if it is still that of the prefix."""


@dataclass(eq=False)
class Query:
    """A sentence to translate, and the resulting translations."""

    words: Sequence[int]
    """Word ids, without the end symbol."""
    beam: int
    prefix: Sequence[int] = ()
    """The words with which the translations begin. A prefix excludes vocabulary selection in the backend."""
    terms: Terms | None = None
    """The terms that the translations must contain. Terms exclude vocabulary selection in the backend and sampling."""
    found: list[Hypothesis] = field(default_factory=list)
    """The translations, best first, after the end of the search."""
    cancelled: bool = False
    """If this is set, the search for this sentence ends at the next step with the translations so far."""

    @property
    def positions(self) -> int:
        """The number of source positions of the sentence in a search, with end symbol and padding."""
        return -(-(len(self.words) + 1) // WIDTH_MULTIPLE) * WIDTH_MULTIPLE


@dataclass
class _Beam:
    """The search for one sentence."""

    query: Query
    random: np.random.Generator | None
    """With sampling, the sentence's own generator: samples do not depend on other sentences."""
    after_prefix: Progress | None = None
    """The progress of the prefix with the terms, if there are terms."""

    def end(
        self,
        path: _Path | None,
        score: float,
        aligns: bool,
        finished: bool = False,
        end_alpha_S: NDArray[np.float32] | None = None,
    ) -> None:
        """Add the hypothesis that ends with `path`; `end_alpha` (S) is α of the step that produced the end symbol.

        `score` is its log p in nats; `aligns` tells whether the model has an alignment.
        """
        words: list[int] = []
        alphas: list[NDArray[np.float32]] = []
        source_length = len(self.query.words) + 1
        terms = self.query.terms
        placed: tuple[tuple[int, int], ...] = ()
        doubled = 0
        if terms is not None:
            progress = self.progress(path)
            placed, doubled = terms.placed(progress), progress.doubled
        # Follow the links from the last word to the first; positions of padding are cut off from α.
        while path is not None:
            words.append(path.word)
            if path.alpha_RS is not None:
                alphas.append(path.alpha_RS[path.row, :source_length])
            path = path.before
        alignment = np.array(alphas[::-1], np.float32).reshape(len(words), source_length) if aligns else None
        end_alignment = None if end_alpha_S is None else end_alpha_S[:source_length].copy()
        self.query.found.append(Hypothesis(words[::-1], score, finished, alignment, end_alignment, placed, doubled))

    def progress(self, path: _Path | None) -> Progress:
        """Return the progress with the terms of the hypothesis that ends with `path`, at least that of the prefix."""
        assert self.after_prefix is not None
        return self.after_prefix if path is None or path.progress is None else path.progress


def beam_search(
    backend: Backend,
    sentences: Sequence[Sequence[int]],
    config: SearchConfig,
    max_steps: int | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Return the translations of each sentence, best first; sentences are word ids without the end symbol.

    With `prefixes`, the translations of each sentence begin with these words; the backend must then have no vocabulary
    selection. After the prefix, a translation takes at most `max_steps` steps, including that of the end symbol; the default
    is `maximum_length_ratio` × the length of the sentence with its end symbol. If no hypothesis of a sentence finishes, its
    unfinished hypotheses are returned, with `finished` False.
    """
    queries = [
        Query(words, config.beam, prefix) for words, prefix in zip(sentences, prefixes or [()] * len(sentences), strict=True)
    ]
    search_all(backend, queries, config, max_steps)
    return [query.found for query in queries]


def search_all(backend: Backend, queries: Sequence[Query], config: SearchConfig, max_steps: int | None = None) -> None:
    """Search for the translations of all these sentences, and store them in the queries; see `beam_search`.

    The sentences are divided among as many threads as have at least `FEW` sentences, and each runs its own search.
    """
    # Sentences of similar length are encoded together; the longest come first, so that none runs alone at the end.
    ordered = sorted(queries, key=lambda query: -len(query.words))
    searches = max(1, min(threads(), len(queries) // FEW))
    parts = [ordered[first::searches] for first in range(searches)]
    if searches == 1:
        _search_part(backend, config, max_steps, ordered)
        return
    with ThreadPoolExecutor(searches) as pool:
        list(pool.map(partial(_search_part, backend, config, max_steps), parts))


def _search_part(backend: Backend, config: SearchConfig, max_steps: int | None, queries: Sequence[Query]) -> None:
    """Search for the translations of these sentences in a single search."""
    if not queries:
        return
    search = Search(backend, replace(config, batch_sentences=min(len(queries), config.batch_sentences)), max_steps)
    search.add(queries)
    while search.busy:
        search.step()


class _Extensions(NamedTuple):
    """The X extensions of hypotheses by a word that a step of the search has chosen."""

    parents: Integers
    """The row of the extended hypothesis, (X)."""
    words: Integers
    """The word that extends it, (X)."""
    scores: NDArray[np.float64]
    """log p of the hypothesis with this word, in nats, (X)."""
    alpha_RS: NDArray[np.float32] | None
    """α of all rows of this step; None without an alignment model."""


class Search:
    """A search in Q slots, to which sentences can be added at any time.

    Arrays are indexed by slot (Q) or by hypothesis (R); the hypotheses of a sentence are adjacent. Further axes are the W
    candidate words of a hypothesis, the S source positions, and X candidates or extensions of all hypotheses.
    """

    def __init__(self, backend: Backend, config: SearchConfig, max_steps: int | None = None) -> None:
        """Create `batch_sentences` slots, of which as many are used as the backend has room for.

        `max_steps` is that of `beam_search`.
        """
        self._backend, self._config, self._max_steps = backend, config, max_steps
        slots = config.batch_sentences
        self._ranking = Ranking(config.length_normalization, config.coverage)
        self._constraints = Constraints(config, slots)
        self._repetition = Repetition() if config.forbid_repetition and not config.temperature else None
        self._session: SearchSession = backend.session()
        self._waiting: deque[Query] = deque()
        self._encoded: list[Query] = []
        self._added = 0
        """The number of encoded sentences that have been assigned a slot."""
        self._free = list(range(slots))
        self._beams: list[_Beam] = [_Beam(Query([], 0), None)] * slots
        # By slot: the present width of the beam, the number of written words, and the largest permitted number of words.
        self._width_Q = np.zeros(slots, np.int64)
        self._positions_Q = np.zeros(slots, np.int64)
        """The positions of the source in each slot; 0 in a free one."""
        self._written_Q = np.zeros(slots, np.int64)
        self._longest_Q = np.zeros(slots, np.int64)
        self._has_terms_Q = np.zeros(slots, np.bool_)
        # By hypothesis: its slot, its summed log p, and its last word.
        self._slots_R = np.empty(0, np.int64)
        self._scores_R = np.empty(0)
        self._paths: list[_Path | None] = []

    @property
    def busy(self) -> bool:
        """Whether a sentence is in a slot or waits for one."""
        return len(self._slots_R) > 0 or self._added < len(self._encoded) or len(self._waiting) > 0

    @property
    def waiting(self) -> int:
        """The number of sentences that have no slot yet."""
        return len(self._encoded) - self._added + len(self._waiting)

    @property
    def free(self) -> int:
        """The number of free slots for which no sentence waits."""
        return max(0, len(self._free) - self.waiting)

    def add(self, queries: Iterable[Query]) -> None:
        """Add sentences, which take the slots that become free in this order."""
        self._waiting.extend(queries)

    def _fill(self) -> None:
        """Assign free slots to waiting sentences while the backend has room."""
        while self._free and (self._added < len(self._encoded) or self._waiting):
            # Encode as many waiting sentences as there are slots, in one minibatch.
            if self._added == len(self._encoded):
                together = min(len(self._beams), len(self._waiting))
                self._encoded = [self._waiting.popleft() for _ in range(together)]
                self._added = 0
                batch = make_batch([(query.words, []) for query in self._encoded])
                self._session.encode(batch.source_BS, batch.source_lengths_B)
            # Each sentence that begins gets a slot and a row in the backend.
            first = self._added
            while self._free and self._added < len(self._encoded) and self._has_room(self._encoded[self._added]):
                self._begin(self._encoded[self._added])
                self._added += 1
            if self._added == first:
                break
            self._session.add(np.arange(first, self._added))

    def _has_room(self, query: Query) -> bool:
        """Return whether the backend has room for this sentence beside those in the slots."""
        # The backend pads all sources to the longest one. The first sentence always has room.
        is_live_Q = self._positions_Q > 0
        rows = int(self._width_Q[is_live_Q].sum())
        return rows == 0 or self._backend.has_room(rows + query.beam, max(int(self._positions_Q.max()), query.positions))

    def _begin(self, query: Query) -> None:
        """Assign a slot to a sentence."""
        slot, length, terms = self._free.pop(), len(query.words) + 1, query.terms
        random = np.random.default_rng([self._config.seed, *query.words]) if self._config.temperature else None
        self._beams[slot] = _Beam(query, random, None if terms is None else terms.after_prefix(query.prefix))
        self._has_terms_Q[slot] = terms is not None
        self._constraints.add(slot, length, query.prefix)
        if self._repetition is not None:
            self._repetition.add(query.words)
        self._width_Q[slot], self._written_Q[slot], self._positions_Q[slot] = query.beam, 0, query.positions
        # The words of the prefix and of terms do not count towards the length limit.
        longest = self._max_steps or max(1, int(self._config.maximum_length_ratio * length))
        self._longest_Q[slot] = longest + len(query.prefix) + (0 if terms is None else terms.words)
        # The first hypothesis is the empty translation, with log p = 0.
        self._slots_R = np.append(self._slots_R, slot)
        self._scores_R = np.append(self._scores_R, 0.0)
        self._paths.append(None)

    def step(self) -> list[Query]:
        """Assign free slots to waiting sentences, and extend every hypothesis by one word; return the finished sentences."""
        self._fill()
        slots_R, Q = self._slots_R, len(self._beams)
        is_first_R = self._is_first()
        # Predict the next words, and choose the extensions of all sentences by sampling or by their scores.
        progress: dict[tuple[int, int], Progress] = {}
        if self._config.temperature:
            parents, words, scores, alpha_RS = self._drawn()
        elif self._has_terms_Q[slots_R].any():
            parents, words, scores, alpha_RS, progress = self._best_with_terms(is_first_R)
        else:
            parents, words, scores, alpha_RS = self._best(is_first_R)
        first_rows, slots = np.flatnonzero(is_first_R), slots_R[parents]

        # An extension by the end symbol is a complete translation; it leaves the beam, whose width decreases by one.
        ends = words == END
        for i in np.flatnonzero(ends).tolist():
            end_alpha_S = None if alpha_RS is None else alpha_RS[parents[i]]
            self._beams[slots[i]].end(self._paths[parents[i]], float(scores[i]), alpha_RS is not None, True, end_alpha_S)
        self._width_Q -= np.bincount(slots[ends], minlength=Q)
        self._written_Q[slots_R[first_rows]] += 1

        def extended(chosen: NDArray[np.int64]) -> list[_Path | None]:
            pairs = zip(parents[chosen].tolist(), words[chosen].tolist(), strict=True)
            return [
                _Path(self._paths[parent], word, alpha_RS, parent, progress.get((parent, word)) if progress else None)
                for parent, word in pairs
            ]

        # A sentence continues if it has unfinished hypotheses and is below its length limit.
        going = np.flatnonzero(~ends)
        goes_on_Q = (np.bincount(slots[going], minlength=Q) > 0) & (self._written_Q < self._longest_Q)
        done: list[Query] = []
        for row in first_rows.tolist():
            slot = int(slots_R[row])
            beam = self._beams[slot]
            query = beam.query
            if goes_on_Q[slot] and not query.cancelled:
                continue
            # The sentence is finished: its slot becomes free, and its translations are ranked.
            goes_on_Q[slot] = False
            self._free.append(slot)
            self._positions_Q[slot] = 0
            done.append(query)
            if not query.found:
                # No hypothesis has finished: return the unfinished ones.
                unfinished = going[slots[going] == slot]
                for path, score in zip(extended(unfinished), scores[unfinished].tolist(), strict=True):
                    beam.end(path, score, alpha_RS is not None)
                if not len(unfinished):
                    # No further word is possible: the selected vocabulary holds only the two symbols, which are banned.
                    beam.end(self._paths[row], float(self._scores_R[row]), alpha_RS is not None)
            query.found = best_first(query.found, self._rank)

        # The extensions of all other sentences are the hypotheses of the next step.
        kept = going[goes_on_Q[slots[going]]]
        self._paths = extended(kept)
        self._slots_R, self._scores_R = slots[kept], scores[kept]
        self._session.advance(parents[kept], words[kept])
        if self._repetition is not None:
            self._repetition.advance(parents[kept], words[kept])
        return done

    def _best(self, is_first_R: NDArray[np.bool_]) -> _Extensions:
        """Return the best extensions of each sentence, as many as its beam is wide, the best ones first."""
        slots_R, config = self._slots_R, self._config
        prediction, log_p_RW, words_RW, _ = self._predict()
        W = log_p_RW.shape[1]

        # The score of an extension is log p(y_1 … y_i | x), the sum over its words. With `diversity` γ, the extensions of a
        # hypothesis compete by this score − γ k, where k is their rank among those of the hypothesis (Li & Jurafsky 2016).
        totals_RW = self._scores_R[:, np.newaxis] + log_p_RW
        totals_X = totals_RW.ravel()
        competing_X = (totals_RW - config.diversity * np.arange(W)).ravel() if config.diversity else totals_X
        # Sort all extensions by sentence, and within a sentence by descending score. The rank of an extension within its
        # sentence is its place minus that of the sentence's first extension; as many are kept as the beam is wide.
        first_rows, sentence_R = np.flatnonzero(is_first_R), np.cumsum(is_first_R) - 1
        best_X = np.lexsort((-competing_X, np.repeat(sentence_R, W)))
        parents_X = best_X // W
        rank_X = np.arange(len(best_X)) - W * first_rows[sentence_R[parents_X]]
        best = best_X[(rank_X < self._width_Q[slots_R[parents_X]]) & (totals_X[best_X] > -np.inf)]
        return _Extensions(best // W, words_RW.ravel()[best], totals_X[best], prediction.alpha_RS)

    def _predict(self, whole: bool = False) -> tuple[Prediction, NDArray[np.float64], Integers, Integers]:
        """Return the prediction, log p (R, W) and ids (R, W) of the best allowed words, and the rows with a forced word.

        W is the width of the widest beam. A forced word may be a banned one.
        """
        written_R = self._written_Q[self._slots_R]
        W = int(self._width_Q[self._slots_R].max())
        # Words that the constraints ban, words that would repeat a sequence too often, and words that a prefix forces.
        banned_RX = self._constraints.banned(self._slots_R, written_R)
        rows, words = _NOTHING if self._repetition is None else self._repetition.too_often()
        forced, forced_words_R = self._constraints.forced(self._slots_R, written_R)
        # Banned words can be among the best ones, so as many further words are predicted as any row can lose.
        most = int(np.bincount(rows).max(initial=0)) + int(banned_RX.sum(1).max())
        prediction = self._session.predict(W + most, whole or len(forced) > 0)
        log_p_RW, words_RW = without(prediction.log_p_RW, prediction.words_RW, W, banned_RX, (rows, words))
        # A row within the prefix has a single extension, by the next word of the prefix.
        if len(forced):
            log_p_RW[forced], words_RW[forced] = -np.inf, 0
            words_RW[forced, 0] = forced_words_R[forced]
            log_p_RW[forced, 0] = prediction.given(forced, forced_words_R[forced])
        return prediction, log_p_RW, words_RW, forced

    def _rank(self, one: Hypothesis) -> float:
        """Return the score by which the hypotheses of a sentence are ranked; higher is better."""
        return self._ranking.score(one.score - DOUBLED * one.doubled, len(one.words) + 1, one.alignment)

    def _best_with_terms(self, is_first_R: NDArray[np.bool_]) -> tuple[Any, ...]:
        """Return the fields of the best extensions as `_best` does, if sentences have terms, and the progress after each.

        The progress is a mapping from (row, word).
        """
        slots_R, diversity = self._slots_R, self._config.diversity
        prediction, log_p_RW, words_RW, forced = self._predict(whole=True)
        alpha_RS = prediction.alpha_RS
        # The rows whose candidates depend on terms, with their progress; a forced word of a prefix comes first.
        has_terms_R = self._has_terms_Q[slots_R]
        has_terms_R[forced] = False
        steered: list[tuple[int, Terms, Progress]] = []
        for row in np.flatnonzero(has_terms_R).tolist():
            beam = self._beams[slots_R[row]]
            assert beam.query.terms is not None
            steered.append((row, beam.query.terms, beam.progress(self._paths[row])))
        # Words of terms are candidates even if they are improbable, so their log p is looked up separately.
        of_terms = [(row, word) for row, terms, progress in steered for word in terms.wanted(progress)]
        rows_G, words_G = np.array(of_terms, np.int64).reshape(-1, 2).T.copy()
        log_p_G = prediction.given(rows_G, words_G)

        # The candidates of these rows: row, word, log p, rank in the row, and the doubled terms and missing words after it.
        log_p_of = dict(zip(of_terms, log_p_G.tolist(), strict=True))
        after: dict[tuple[int, int], Progress] = {}
        candidates: list[tuple[int, int, float, int, int, int]] = []
        for row, terms, progress in steered:
            slot = slots_R[row]
            alpha_S = None if alpha_RS is None else alpha_RS[row]
            # Only as many words as the sentence's own beam is wide, so that other sentences do not affect it.
            best_W = slice(int(self._width_Q[slot]))
            pairs = zip(words_RW[row, best_W].tolist(), log_p_RW[row, best_W].tolist(), strict=True)
            best = {word: log_p for word, log_p in pairs if log_p > -np.inf}
            # The number of words that may follow this one.
            left = int(self._longest_Q[slot] - self._written_Q[slot]) - 1
            for rank, (word, then) in enumerate(terms.extensions(progress, list(best), alpha_S, left)):
                log_p = best[word] if word in best else log_p_of[row, word]
                candidates.append((row, word, log_p, rank, then.doubled, then.missing))
                after[row, word] = then
        # The candidates of all rows as columns: the best words of rows without terms, then the candidates from above.
        log_p_RW[has_terms_R] = -np.inf
        rows, ranks = np.nonzero(log_p_RW > -np.inf)
        zeros = np.zeros(len(rows))
        free = np.stack([rows, words_RW[rows, ranks], log_p_RW[rows, ranks], ranks, zeros, zeros])
        steered_columns = np.array(candidates, np.float64).reshape(-1, len(free)).T
        parents_X, words_X, log_p_X, ranks_X, doubled_X, missing_X = np.concatenate([free, steered_columns], 1)
        parents_X, words_X = parents_X.astype(np.int64), words_X.astype(np.int64)
        # Dynamic beam allocation (Post & Vilar 2018): the hypotheses that lack equally many words form a bank, and compete
        # only with each other. The banks take turns in filling the beam, beginning with the one that lacks fewest words.
        totals_X = self._scores_R[parents_X] + log_p_X
        sentence_X = (np.cumsum(is_first_R) - 1)[parents_X]
        order = np.lexsort((diversity * ranks_X + DOUBLED * doubled_X - totals_X, missing_X, sentence_X))
        # An extension takes its turn in the order of its rank in its bank, so that each bank has one candidate per turn.
        turn = _ranks(sentence_X[order], missing_X[order])
        order = order[np.lexsort((missing_X[order], turn, sentence_X[order]))]
        best_X = order[_ranks(sentence_X[order]) < self._width_Q[slots_R[parents_X[order]]]]
        return *_Extensions(parents_X[best_X], words_X[best_X], totals_X[best_X], alpha_RS), after

    def _drawn(self) -> _Extensions:
        """Return extensions by one sampled word per hypothesis.

        The first word of a sentence is sampled `beam` times, so that the sentence has `beam` independent samples.
        """
        slots_R = self._slots_R
        # Each sentence draws its random numbers from its own generator, so that its samples do not depend on others.
        draws_R = np.where(self._written_Q[slots_R] == 0, self._width_Q[slots_R], 1)
        chances_RW = np.zeros((len(slots_R), int(draws_R.max())))
        for row, draws in enumerate(draws_R.tolist()):
            random = self._beams[slots_R[row]].random
            assert random is not None
            chances_RW[row, :draws] = random.random(draws)
        prediction, best_log_p_RW, best_RW, forced = self._predict(whole=True)
        banned_RX = self._constraints.banned(slots_R, self._written_Q[slots_R])
        # Sample from p^(1 / temperature); a forced word of a prefix replaces the samples.
        log_p_RW, words_RW = prediction.draw(chances_RW, self._config.temperature, banned_RX)
        log_p_RW[forced], words_RW[forced] = best_log_p_RW[forced, :1], best_RW[forced, :1]
        # Every drawn column of a row is an extension, unless the row has no allowed word left.
        parents, columns = np.nonzero(np.arange(chances_RW.shape[1]) < draws_R[:, np.newaxis])
        scores = self._scores_R[parents] + log_p_RW[parents, columns]
        possible = scores > -np.inf
        words = words_RW[parents, columns][possible]
        return _Extensions(parents[possible], words, scores[possible], prediction.alpha_RS)

    def _is_first(self) -> NDArray[np.bool_]:
        """Return True (R) for the first hypothesis of each sentence."""
        is_first_R = np.ones(len(self._slots_R), np.bool_)
        np.not_equal(self._slots_R[1:], self._slots_R[:-1], out=is_first_R[1:])
        return is_first_R


def _ranks(*keys: Integers) -> Integers:
    """Return the rank of each element among those with the same keys, which must be adjacent."""
    is_first = np.ones(len(keys[0]), np.bool_)
    is_first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    # The running maximum of the first places of groups is the first place of each element's own group.
    places = np.arange(len(is_first))
    return places - np.maximum.accumulate(np.where(is_first, places, 0))
