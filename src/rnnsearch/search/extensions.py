"""The choice of the words that extend hypotheses in a step of search: the best words, terms first, or samples.

R counts the hypotheses, W the candidate words of each, S the source positions, and X candidates or extensions of all
hypotheses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.search.backend import Integers, Prediction
from rnnsearch.search.beam import Beams
from rnnsearch.search.hypothesis import Path
from rnnsearch.search.terms import DOUBLED, Progress


class Candidates(NamedTuple):
    """The words that may extend each hypothesis."""

    prediction: Prediction
    """The prediction of the backend, banned words included."""
    log_p_RW: NDArray[np.float64]
    """log p of the best allowed words, in nats, the best first; −∞ where fewer are allowed."""
    words_RW: Integers
    """The ids of these words."""
    forced: Integers
    """The rows within a prefix, whose only candidate is the next word of the prefix."""
    banned_RX: NDArray[np.bool_]
    """True for those of the first X words of the vocabulary that must not extend a hypothesis."""


class Extensions(NamedTuple):
    """The X extensions of hypotheses by a word that a step of the search has chosen."""

    parents: Integers
    """The row of the extended hypothesis, (X)."""
    words: Integers
    """The word that extends it, (X)."""
    scores: NDArray[np.float64]
    """log p of the hypothesis with this word, in nats, (X)."""
    alpha_RS: NDArray[np.float32] | None
    """α of all rows of this step; None without an alignment model."""
    progress: dict[tuple[int, int], Progress] | None = None
    """The progress with the terms, by row and word; without terms, None."""

    def paths(self, before: list[Path | None], chosen: Integers) -> list[Path | None]:
        """Return the paths of some extensions, given the paths of all rows."""
        after = self.progress or {}
        pairs = zip(self.parents[chosen].tolist(), self.words[chosen].tolist(), strict=True)
        return [Path(before[row], word, self.alpha_RS, row, after.get((row, word))) for row, word in pairs]


def best(beams: Beams, candidates: Candidates, diversity: float) -> Extensions:
    """Return the best extensions of each sentence, as many as its beam is wide, the best ones first."""
    log_p_RW, is_first_R = candidates.log_p_RW, beams.is_first_R
    W = log_p_RW.shape[1]
    # The score of an extension is log p(y_1 … y_i | x), the sum over its words. With `diversity` γ, the extensions of a
    # hypothesis compete by this score − γ k, where k is their rank among those of the hypothesis (Li & Jurafsky 2016).
    totals_RW = beams.scores_R[:, np.newaxis] + log_p_RW
    totals_X = totals_RW.ravel()
    competing_X = (totals_RW - diversity * np.arange(W)).ravel() if diversity else totals_X
    # Sort all extensions by sentence, and within a sentence by descending score. The rank of an extension within its
    # sentence is its place minus that of the sentence's first extension; as many are kept as the beam is wide.
    first_rows, sentence_R = np.flatnonzero(is_first_R), np.cumsum(is_first_R) - 1
    best_X = np.lexsort((-competing_X, np.repeat(sentence_R, W)))
    parents_X = best_X // W
    rank_X = np.arange(len(best_X)) - W * first_rows[sentence_R[parents_X]]
    chosen = best_X[(rank_X < beams.width_Q[beams.slots_R[parents_X]]) & (totals_X[best_X] > -np.inf)]
    return Extensions(chosen // W, candidates.words_RW.ravel()[chosen], totals_X[chosen], candidates.prediction.alpha_RS)


def best_with_terms(beams: Beams, candidates: Candidates, diversity: float) -> Extensions:
    """Return the best extensions of each sentence as `best` does, if sentences have terms. The prediction must be whole."""
    has_terms_R = beams.has_terms_Q[beams.slots_R]
    has_terms_R[candidates.forced] = False  # a forced word of a prefix comes before terms
    steered, after = _steered(beams, candidates, np.flatnonzero(has_terms_R))
    # The candidates of all rows as columns: the best words of rows without terms, then the steered candidates.
    log_p_RW = candidates.log_p_RW
    log_p_RW[has_terms_R] = -np.inf
    rows, ranks = np.nonzero(log_p_RW > -np.inf)
    zeros = np.zeros(len(rows))
    free = np.stack([rows, candidates.words_RW[rows, ranks], log_p_RW[rows, ranks], ranks, zeros, zeros])
    columns = np.concatenate([free, np.array(steered, np.float64).reshape(-1, len(free)).T], 1)
    parents_X, words_X = columns[:2].astype(np.int64)
    log_p_X, ranks_X, doubled_X, missing_X = columns[2:]
    # Dynamic beam allocation (Post & Vilar 2018): the hypotheses that lack equally many words form a bank, and compete
    # only with each other. The banks take turns in filling the beam, beginning with the one that lacks fewest words.
    totals_X = beams.scores_R[parents_X] + log_p_X
    sentence_X = (np.cumsum(beams.is_first_R) - 1)[parents_X]
    order = np.lexsort((diversity * ranks_X + DOUBLED * doubled_X - totals_X, missing_X, sentence_X))
    # An extension takes its turn in the order of its rank in its bank, so that each bank has one candidate per turn.
    turn = _ranks(sentence_X[order], missing_X[order])
    order = order[np.lexsort((missing_X[order], turn, sentence_X[order]))]
    best_X = order[_ranks(sentence_X[order]) < beams.width_Q[beams.slots_R[parents_X[order]]]]
    return Extensions(parents_X[best_X], words_X[best_X], totals_X[best_X], candidates.prediction.alpha_RS, after)


class _Steered(NamedTuple):
    """A candidate of a hypothesis with terms."""

    row: int
    word: int
    log_p: float
    rank: int
    """The rank among the candidates of the row."""
    doubled: int
    """The number of doubled terms after this word."""
    missing: int
    """The number of missing words of terms after this word."""


def _steered(beams: Beams, candidates: Candidates, rows: Integers) -> tuple[list[_Steered], dict[tuple[int, int], Progress]]:
    """Return the candidates of these rows, of sentences with terms, and the progress after each row and word."""
    prediction = candidates.prediction
    steered = beams.steered(rows)
    # Words of terms are candidates even if they are improbable, so their log p is looked up separately.
    of_terms = [(row, word) for row, terms, progress in steered for word in terms.next_words(progress)]
    rows_G, words_G = np.array(of_terms, np.int64).reshape(-1, 2).T.copy()
    log_p_of = dict(zip(of_terms, prediction.log_p_of(rows_G, words_G).tolist(), strict=True))
    after: dict[tuple[int, int], Progress] = {}
    found: list[_Steered] = []
    for row, terms, progress in steered:
        slot = beams.slots_R[row]
        alpha_S = None if prediction.alpha_RS is None else prediction.alpha_RS[row]
        # Only as many words as the sentence's own beam is wide, so that other sentences do not affect it.
        best_W = slice(int(beams.width_Q[slot]))
        pairs = zip(candidates.words_RW[row, best_W].tolist(), candidates.log_p_RW[row, best_W].tolist(), strict=True)
        best = {word: log_p for word, log_p in pairs if log_p > -np.inf}
        # The number of words that may follow this one.
        left = int(beams.longest_Q[slot] - beams.written_Q[slot]) - 1
        for rank, (word, then) in enumerate(terms.extensions(progress, list(best), alpha_S, left)):
            log_p = best[word] if word in best else log_p_of[row, word]
            found.append(_Steered(row, word, log_p, rank, then.doubled, then.missing))
            after[row, word] = then
    return found, after


def sampled(beams: Beams, candidates: Candidates, temperature: float) -> Extensions:
    """Return extensions by one sampled word per hypothesis. The prediction must be whole.

    The first word of a sentence is sampled `beam` times, so that the sentence has `beam` independent samples.
    """
    # Each sentence draws its random numbers from its own generator, so that its samples do not depend on others.
    draws_R = np.where(beams.written_Q[beams.slots_R] == 0, beams.width_Q[beams.slots_R], 1)
    chances_RW = np.zeros((len(draws_R), int(draws_R.max())))
    for row, draws in enumerate(draws_R.tolist()):
        random = beams.of_slots[beams.slots_R[row]].random
        assert random is not None
        chances_RW[row, :draws] = random.random(draws)
    # Sample from p^(1 / temperature); a forced word of a prefix replaces the samples.
    log_p_RW, words_RW = candidates.prediction.draw(chances_RW, temperature, candidates.banned_RX)
    forced = candidates.forced
    log_p_RW[forced], words_RW[forced] = candidates.log_p_RW[forced, :1], candidates.words_RW[forced, :1]
    # Every drawn column of a row is an extension, unless the row has no allowed word left.
    parents, columns = np.nonzero(np.arange(chances_RW.shape[1]) < draws_R[:, np.newaxis])
    scores = beams.scores_R[parents] + log_p_RW[parents, columns]
    possible = scores > -np.inf
    words = words_RW[parents, columns][possible]
    return Extensions(parents[possible], words, scores[possible], candidates.prediction.alpha_RS)


def _ranks(*keys: Integers) -> Integers:
    """Return the rank of each element among those with the same keys, which must be adjacent."""
    is_first = np.ones(len(keys[0]), np.bool_)
    is_first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    # The running maximum of the first places of groups is the first place of each element's own group.
    places = np.arange(len(is_first))
    return places - np.maximum.accumulate(np.where(is_first, places, 0))
