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
from dataclasses import replace
from functools import partial

import numpy as np

from rnnsearch.config import SearchConfig
from rnnsearch.data.batches import make_batch
from rnnsearch.jobs.processes import threads
from rnnsearch.search import extensions
from rnnsearch.search.backend import Backend, Integers, SearchSession
from rnnsearch.search.beam import Beams
from rnnsearch.search.constraints import Constraints, without
from rnnsearch.search.extensions import Candidates, Extensions
from rnnsearch.search.hypothesis import Hypothesis
from rnnsearch.search.query import Query
from rnnsearch.search.ranking import Ranking, best_first
from rnnsearch.search.repetition import Repetition
from rnnsearch.search.terms import DOUBLED
from rnnsearch.text.vocabulary import END

FEW = 8
"""The smallest number of sentences for which a search gets a thread of its own."""
_NOTHING = np.empty(0, np.int64), np.empty(0, np.int64)


def search_all(backend: Backend, queries: Sequence[Query], config: SearchConfig) -> None:
    """Search for the translations of all these sentences, and store them in the queries, best first.

    After its prefix, a translation is at most `maximum_length_ratio` times as long as its sentence; both end symbols count.
    If no hypothesis of a sentence finishes, its unfinished ones are stored, with `finished` False.

    The sentences are divided among as many threads as have at least `FEW` sentences, and each runs its own search.
    """
    # Sentences of similar length are encoded together; the longest come first, so that none runs alone at the end.
    ordered = sorted(queries, key=lambda query: -len(query.words))
    searches = max(1, min(threads(), len(queries) // FEW))
    parts = [ordered[first::searches] for first in range(searches)]
    if searches == 1:
        _search_part(backend, config, ordered)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(searches) as pool:
        list(pool.map(partial(_search_part, backend, config), parts))


def _search_part(backend: Backend, config: SearchConfig, queries: Sequence[Query]) -> None:
    """Search for the translations of these sentences in a single search."""
    if not queries:
        return
    search = Search(backend, replace(config, batch_sentences=min(len(queries), config.batch_sentences)))
    search.add(queries)
    while search.busy:
        search.step()


class Search:
    """A search in Q slots, to which sentences can be added at any time."""

    def __init__(self, backend: Backend, config: SearchConfig) -> None:
        """Create `batch_sentences` slots, of which as many are used as the backend has room for."""
        self._backend, self._config = backend, config
        self._ranking = Ranking(config.length_normalization, config.coverage)
        self._constraints = Constraints(config, config.batch_sentences)
        self._repetition = Repetition() if config.forbid_repetition and not config.temperature else None
        self._session: SearchSession = backend.session()
        self._waiting: deque[Query] = deque()
        self._encoded: list[Query] = []
        self._added = 0
        """The number of encoded sentences that have been assigned a slot."""
        self._beams = Beams(config.batch_sentences)

    @property
    def busy(self) -> bool:
        """Whether a sentence is in a slot or waits for one."""
        return len(self._beams.slots_R) > 0 or self._added < len(self._encoded) or len(self._waiting) > 0

    @property
    def waiting(self) -> int:
        """The number of sentences that have no slot yet."""
        return len(self._encoded) - self._added + len(self._waiting)

    @property
    def free(self) -> int:
        """The number of free slots for which no sentence waits."""
        return max(0, len(self._beams.free) - self.waiting)

    def add(self, queries: Iterable[Query]) -> None:
        """Add sentences, which take the slots that become free in this order."""
        self._waiting.extend(queries)

    def step(self) -> list[Query]:
        """Assign free slots to waiting sentences, and extend every hypothesis by one word; return the finished sentences."""
        self._fill()
        beams, extended = self._beams, self._extensions()
        first_rows, slots = np.flatnonzero(beams.is_first_R), beams.slots_R[extended.parents]
        alpha_RS, Q = extended.alpha_RS, len(beams.of_slots)

        # An extension by the end symbol is a complete translation; it leaves the beam, whose width decreases by one.
        ends = extended.words == END
        for i in np.flatnonzero(ends).tolist():
            row = extended.parents[i]
            end_alpha_S = None if alpha_RS is None else alpha_RS[row]
            score = float(extended.scores[i])
            beams.of_slots[slots[i]].end(beams.paths[row], score, alpha_RS is not None, True, end_alpha_S)
        beams.width_Q -= np.bincount(slots[ends], minlength=Q)
        beams.written_Q[beams.slots_R[first_rows]] += 1

        # A sentence continues if it has unfinished hypotheses and is below its length limit.
        going = np.flatnonzero(~ends)
        goes_on_Q = (np.bincount(slots[going], minlength=Q) > 0) & (beams.written_Q < beams.longest_Q)
        done: list[Query] = []
        for row in first_rows.tolist():
            slot = int(beams.slots_R[row])
            query = beams.of_slots[slot].query
            if query.cancelled or not goes_on_Q[slot]:
                goes_on_Q[slot] = False
                self._finish(row, extended, going[slots[going] == slot])
                done.append(query)

        # The extensions of all other sentences are the hypotheses of the next step.
        kept = going[goes_on_Q[slots[going]]]
        parents, words = extended.parents[kept], extended.words[kept]
        beams.advance(slots[kept], extended.scores[kept], extended.paths(beams.paths, kept))
        self._session.advance(parents, words)
        if self._repetition is not None:
            self._repetition.advance(parents, words)
        return done

    def _fill(self) -> None:
        """Assign free slots to waiting sentences while the backend has room."""
        beams = self._beams
        while beams.free and (self._added < len(self._encoded) or self._waiting):
            # Encode as many waiting sentences as there are slots, in one minibatch.
            if self._added == len(self._encoded):
                together = min(len(beams.of_slots), len(self._waiting))
                self._encoded = [self._waiting.popleft() for _ in range(together)]
                self._added = 0
                batch = make_batch([(query.words, []) for query in self._encoded])
                self._session.encode(batch.source_BS, batch.source_lengths_B)
            # Each sentence that begins gets a slot and a row in the backend.
            first = self._added
            while beams.free and self._added < len(self._encoded) and self._has_room(self._encoded[self._added]):
                self._begin(self._encoded[self._added])
                self._added += 1
            if self._added == first:
                break
            self._session.add(np.arange(first, self._added))

    def _has_room(self, query: Query) -> bool:
        """Return whether the backend has room for this sentence beside those in the slots."""
        # The backend pads all sources to the longest one. The first sentence always has room.
        positions_Q = self._beams.positions_Q
        rows = int(self._beams.width_Q[positions_Q > 0].sum())
        return rows == 0 or self._backend.has_room(rows + query.beam, max(int(positions_Q.max()), query.positions))

    def _begin(self, query: Query) -> None:
        """Assign a slot to a sentence."""
        length = len(query.words) + 1
        random = np.random.default_rng([self._config.seed, *query.words]) if self._config.temperature else None
        max_steps = max(1, int(self._config.maximum_length_ratio * length))
        self._constraints.add(self._beams.begin(query, max_steps, random), length, query.prefix)
        if self._repetition is not None:
            self._repetition.add(query.words)

    def _extensions(self) -> Extensions:
        """Predict the next words, and choose the extensions of all sentences by sampling or by their scores."""
        if self._config.temperature:
            return extensions.sampled(self._beams, self._candidates(whole=True), self._config.temperature)
        if self._beams.has_terms_Q[self._beams.slots_R].any():
            return extensions.best_with_terms(self._beams, self._candidates(whole=True), self._config.diversity)
        return extensions.best(self._beams, self._candidates(), self._config.diversity)

    def _candidates(self, whole: bool = False) -> Candidates:
        """Return the best allowed words of each hypothesis, as many as the widest beam is wide.

        With `whole`, the prediction also contains the log p of all words. A forced word may be a banned one.
        """
        slots_R = self._beams.slots_R
        written_R, W = self._beams.written_Q[slots_R], int(self._beams.width_Q[slots_R].max())
        # Words that the constraints ban, words that would repeat a sequence too often, and words that a prefix forces.
        banned_RX = self._constraints.banned(slots_R, written_R)
        rows, words = _NOTHING if self._repetition is None else self._repetition.too_often()
        forced, forced_words_R = self._constraints.forced(slots_R, written_R)
        # Banned words can be among the best ones, so as many further words are predicted as any row can lose.
        most = int(np.bincount(rows).max(initial=0)) + int(banned_RX.sum(1).max())
        prediction = self._session.predict(W + most, whole or len(forced) > 0)
        log_p_RW, words_RW = without(prediction.log_p_RW, prediction.words_RW, W, banned_RX, (rows, words))
        # A row within the prefix has a single extension, by the next word of the prefix.
        if len(forced):
            log_p_RW[forced], words_RW[forced] = -np.inf, 0
            words_RW[forced, 0] = forced_words_R[forced]
            log_p_RW[forced, 0] = prediction.log_p_of(forced, forced_words_R[forced])
        return Candidates(prediction, log_p_RW, words_RW, forced, banned_RX)

    def _finish(self, row: int, extended: Extensions, unfinished: Integers) -> None:
        """Free the slot of the sentence whose first hypothesis is `row`, and rank its translations.

        If none of them is finished, the `unfinished` extensions of the sentence are its translations.
        """
        beams, aligns = self._beams, extended.alpha_RS is not None
        slot = int(beams.slots_R[row])
        beam = beams.of_slots[slot]
        query = beam.query
        beams.end(slot)
        if not query.hypotheses:
            paths, scores = extended.paths(beams.paths, unfinished), extended.scores[unfinished].tolist()
            for path, score in zip(paths, scores, strict=True):
                beam.end(path, score, aligns)
            if not len(unfinished):
                # No further word is possible: the selected vocabulary holds only the two symbols, which are banned.
                beam.end(beams.paths[row], float(beams.scores_R[row]), aligns)
        query.hypotheses = best_first(query.hypotheses, self._rank)

    def _rank(self, one: Hypothesis) -> float:
        """Return the score by which the hypotheses of a sentence are ranked; higher is better."""
        return self._ranking.score(one.score - DOUBLED * one.doubled, len(one.words) + 1, one.alignment)
