"""The state of a beam search: the sentences in its slots, and the hypotheses in their beams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rnnsearch.search.backend import Integers
from rnnsearch.search.hypothesis import Hypothesis, Path, words_and_attention
from rnnsearch.search.query import Query
from rnnsearch.search.terms import Progress, Terms


@dataclass
class Beam:
    """The beam of one sentence."""

    query: Query
    random: np.random.Generator | None
    """With sampling, the sentence's own generator: samples do not depend on other sentences."""
    after_prefix: Progress | None = None
    """The progress of the prefix with the terms, if there are terms."""

    def end(
        self,
        path: Path | None,
        score: float,
        aligns: bool,
        finished: bool = False,
        end_alpha_S: NDArray[np.float32] | None = None,
    ) -> None:
        """Add the hypothesis that ends with `path`; `end_alpha` (S) is α of the step that produced the end symbol.

        `score` is its log p in nats; `aligns` tells whether the model has an alignment.
        """
        # Positions of padding are cut off from α.
        source_length = len(self.query.words) + 1
        words, alphas = words_and_attention(path, source_length)
        alignment = np.array(alphas, np.float32).reshape(len(words), source_length) if aligns else None
        end_alignment = None if end_alpha_S is None else end_alpha_S[:source_length].copy()
        placed: tuple[tuple[int, int], ...] = ()
        doubled = 0
        if self.query.terms is not None:
            progress = self.progress(path)
            placed, doubled = self.query.terms.placed(progress), progress.doubled
        self.query.hypotheses.append(Hypothesis(words, score, finished, alignment, end_alignment, placed, doubled))

    def progress(self, path: Path | None) -> Progress:
        """Return the progress with the terms of the hypothesis that ends with `path`, at least that of the prefix."""
        assert self.after_prefix is not None
        return self.after_prefix if path is None or path.progress is None else path.progress


class Beams:
    """The beams of all sentences in the Q slots of a search, and their R hypotheses.

    Arrays are indexed by slot (Q) or by hypothesis (R); the hypotheses of a sentence are adjacent.
    """

    def __init__(self, slots: int) -> None:
        self.free = list(range(slots))
        """The numbers of the free slots."""
        self.of_slots: list[Beam] = [Beam(Query([], 0), None)] * slots
        self.width_Q = np.zeros(slots, np.int64)
        """The present width of each beam: that of the query, less one for each finished hypothesis."""
        self.written_Q = np.zeros(slots, np.int64)
        """The number of written words, the same for all unfinished hypotheses of a sentence."""
        self.longest_Q = np.zeros(slots, np.int64)
        """The largest permitted number of words."""
        self.positions_Q = np.zeros(slots, np.int64)
        """The positions of the source in each slot; 0 in a free one."""
        self.has_terms_Q = np.zeros(slots, np.bool_)
        self.slots_R = np.empty(0, np.int64)
        """The slot of each hypothesis."""
        self.scores_R = np.empty(0)
        """log p of each hypothesis, summed over its words, in nats."""
        self.paths: list[Path | None] = []
        """The last word of each hypothesis."""

    @property
    def is_first_R(self) -> NDArray[np.bool_]:
        """True for the first hypothesis of each sentence."""
        is_first_R = np.ones(len(self.slots_R), np.bool_)
        np.not_equal(self.slots_R[1:], self.slots_R[:-1], out=is_first_R[1:])
        return is_first_R

    def begin(self, query: Query, max_steps: int, random: np.random.Generator | None) -> int:
        """Assign a free slot to a sentence, and return the slot. It takes at most `max_steps` steps after its prefix."""
        slot, terms = self.free.pop(), query.terms
        self.of_slots[slot] = Beam(query, random, None if terms is None else terms.after_prefix(query.prefix))
        self.has_terms_Q[slot] = terms is not None
        self.width_Q[slot], self.written_Q[slot], self.positions_Q[slot] = query.beam, 0, query.positions
        # The words of the prefix and of terms do not count towards the length limit.
        self.longest_Q[slot] = max_steps + len(query.prefix) + (0 if terms is None else terms.words)
        # The first hypothesis is the empty translation, with log p = 0.
        self.slots_R = np.append(self.slots_R, slot)
        self.scores_R = np.append(self.scores_R, 0.0)
        self.paths.append(None)
        return slot

    def end(self, slot: int) -> None:
        """Free the slot of a finished sentence. Its hypotheses leave with the next `advance`."""
        self.free.append(slot)
        self.positions_Q[slot] = 0

    def advance(self, slots_R: Integers, scores_R: NDArray[np.float64], paths: list[Path | None]) -> None:
        """Replace all hypotheses by those of the next step."""
        self.slots_R, self.scores_R, self.paths = slots_R, scores_R, paths

    def steered(self, rows: Integers) -> list[tuple[int, Terms, Progress]]:
        """Return each of these rows, of sentences with terms, with its terms and the progress of its hypothesis."""
        found = []
        for row in rows.tolist():
            beam = self.of_slots[self.slots_R[row]]
            assert beam.query.terms is not None
            found.append((row, beam.query.terms, beam.progress(self.paths[row])))
        return found
