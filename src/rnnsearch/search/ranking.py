"""The ranking of translations of a sentence, shared by search, bidirectional translation and n-best lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_LEAST_ATTENTION = 1e-3
"""Lower bound of the attention that a source word has received, so that its penalty is finite."""


@dataclass(frozen=True)
class Ranking:
    """The score by which candidates are ranked: log p / length^length_normalization, and a coverage penalty."""

    length_normalization: float
    coverage: float = 0.0

    def score(self, log_p: float, length: int, alignment: NDArray[np.float32] | None = None) -> float:
        """Return the score of a candidate of `length` words, including the end symbol; higher is better.

        `log_p` is in nats. The coverage penalty is `coverage` · Σ_j log min(1, Σ_i α_ij), over the source words (Wu et al.
        2016, Eq. 14). `alignment` holds α for (target words, source words and the end symbol).
        """
        score = log_p / math.pow(length, self.length_normalization)
        if self.coverage and alignment is not None:
            # The attention that each source word has received from all target words; the end symbol need not be covered.
            attention_S = alignment[:, :-1].sum(0, dtype=np.float64)
            score += self.coverage * float(np.log(attention_S.clip(_LEAST_ATTENTION, 1)).sum())
        return score


def best_first(candidates: Iterable[T], score: Callable[[T], float]) -> list[T]:
    """Sort the candidates by descending score; candidates of equal score keep their order."""
    return sorted(candidates, key=lambda candidate: -score(candidate))
