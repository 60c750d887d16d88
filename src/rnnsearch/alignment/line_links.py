"""The alignment of a line: its probable position pairs, and the links that are chosen from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.data.word_alignments import Links, Symmetry, symmetrize

_LIKELY = 0.5
"""Words are linked if the probability of the link exceeds this; if there are too few such links, less probable ones are
added."""
_SHARE = 0.85
"""The smallest number of links of a line, as a share of their expected number."""


@dataclass(frozen=True)
class LineLinks:
    """The alignment of a line: all N position pairs whose posterior probability exceeds 0.01 in at least one model."""

    source: NDArray[np.int64]
    """The source position of each position pair, from 0."""
    target: NDArray[np.int64]
    """The target position of each position pair, from 0."""
    forward: NDArray[np.float32]
    """The posterior probability of each position pair in the agreeing model that generates the target."""
    backward: NDArray[np.float32]
    """The same in the agreeing model that generates the source."""

    evidence: NDArray[np.float64]
    """The features from which the probability is predicted: position pairs × features (`probability.EVIDENCE`)."""
    probability: NDArray[np.float64]
    """The probability that the two words are linked."""
    log_likelihood: tuple[float, float]
    """log p(target | source) and log p(source | target) of the agreeing models, the last jump included; 0 without words."""

    def links(self, how: Symmetry | Literal["probability"] = "probability") -> Links:
        """Return the most probable links (`linked`), or a combination of the links of both agreeing models (`symmetrize`).

        For `symmetrize`, a model links each word that it generates to the most probable word of the other side, unless NULL
        is more probable.
        """
        if how == "probability":
            linked = self.linked()
            return frozenset(zip(self.source[linked].tolist(), self.target[linked].tolist(), strict=True))
        forward = self._most_probable(self.target, self.forward)
        backward = self._most_probable(self.source, self.backward)
        return symmetrize(forward, backward, how)

    def linked(self) -> NDArray[np.intp]:
        """Return the indices of the position pairs that are linked, in ascending order.

        These are the links with a probability above 0.5. Between distant languages, most probabilities are lower, although
        as many words have a translation. Therefore the most probable links are returned, at least 0.85 times as many as the
        sum of all probabilities, which is the expected number of links.
        """
        if compiled.loops:
            chosen: NDArray[np.intp] = compiled.loops.linked(self.probability, _LIKELY, _SHARE)
            return chosen
        count = max(int((self.probability > _LIKELY).sum()), int(_SHARE * self.probability.sum()))
        return np.sort(np.argsort(-self.probability, kind="stable")[:count])

    def one_to_many(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return forward links, at most one for each target word, and reverse links, at most one for each source word.

        The most probable link of each word is returned; forward links are in the order of the target words, and reverse
        links in that of the source words. Both are pairs (source, target).
        """
        likely = self.linked()
        source, target = self.source[likely], self.target[likely]
        links = []
        for words in (target, source):
            best = _best_of(words, self.probability[likely])
            links.append(list(zip(source[best].tolist(), target[best].tolist(), strict=True)))
        return links[0], links[1]

    def probabilities(self) -> dict[tuple[int, int], float]:
        """Return the link probability of every position pair (source, target) of this alignment."""
        cells = zip(self.source.tolist(), self.target.tolist(), strict=True)
        return dict(zip(cells, self.probability.tolist(), strict=True))

    def _most_probable(self, words: NDArray[np.int64], probability: NDArray[np.float32]) -> Links:
        """Return for each of the generated `words` its most probable link, unless NULL is more probable."""
        best = _best_of(words, probability)
        # The posterior probability of NULL is 1 − Σ p of the word.
        total = np.bincount(words, probability)
        best = best[probability[best] > 1 - total[words[best]]]
        return frozenset(zip(self.source[best].tolist(), self.target[best].tolist(), strict=True))


def _best_of(words: NDArray[np.int64], probability: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the index of the most probable position pair of each of the words that occur, in ascending order of words."""
    # Sorted by word, then by descending probability, the first position pair of each word is its best.
    order = np.lexsort((-probability, words))
    _, first = np.unique(words[order], return_index=True)
    return np.asarray(order[first])
