"""How translations of a sentence are compared: the one place for search, for both directions, and for n-best lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_UNREAD = 1e-3
"""As much attention every source word is taken to have had, so that none costs without limit."""


@dataclass(frozen=True)
class Ranking:
    """What candidates are compared by: log p / length^length_normalization, and how much of the source was read."""

    length_normalization: float
    coverage: float = 0.0

    def score(self, log_p: float, length: int, alignment: NDArray[np.float32] | None = None) -> float:
        """The score of a candidate of `length` words, end symbols included; the greater, the better.

        Coverage adds `coverage` · Σ_j log min(1, Σ_i α_ij) over the source words (Wu et al. 2016). `alignment` is (target
        words, source words and the end symbol).
        """
        score = log_p / math.pow(length, self.length_normalization)
        if self.coverage and alignment is not None:
            read_S = alignment[:, :-1].sum(0, dtype=np.float64)
            score += self.coverage * float(np.log(read_S.clip(_UNREAD, 1)).sum())
        return score


def best_first(candidates: Iterable[T], score: Callable[[T], float]) -> list[T]:
    """The candidates by falling score; of equal ones, the one that came first."""
    return sorted(candidates, key=lambda candidate: -score(candidate))
