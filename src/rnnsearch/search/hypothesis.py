"""A translation as search builds it: a chain of words, and the translation that the chain becomes when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.search.terms import Progress


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


class Path(NamedTuple):
    """The last word of an unfinished hypothesis, linked to the words before it. The empty translation is None."""

    before: Path | None
    word: int
    alpha_RS: NDArray[np.float32] | None
    """α of the step that wrote the word, for all hypotheses of the search."""
    row: int
    """The row of this word in α."""
    progress: Progress | None
    """The progress of the hypothesis with the terms; None if it is still that of the prefix."""


def words_and_attention(path: Path | None, positions: int) -> tuple[list[int], list[NDArray[np.float32]]]:
    """Return the words of a hypothesis, and the α of each word, if there is one, at the first `positions` positions."""
    # Follow the links from the last word to the first.
    words: list[int] = []
    alphas: list[NDArray[np.float32]] = []
    while path is not None:
        words.append(path.word)
        if path.alpha_RS is not None:
            alphas.append(path.alpha_RS[path.row, :positions])
        path = path.before
    return words[::-1], alphas[::-1]
