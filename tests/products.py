"""Parametrisation over several axes: `make test` takes every pair of values, `make test-nightly` every combination."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import pytest
from _pytest.mark.structures import ParameterSet


def every_pair(*axes: Sequence[object]) -> list[ParameterSet]:
    """All combinations of one value of each axis, for `pytest.mark.parametrize`.

    Combinations without a pair of values that is not yet in an earlier one are marked `nightly`.
    """

    def pairs(places: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
        return set(combinations(enumerate(places), 2))

    left = list(product(*(range(len(axis)) for axis in axes)))
    chosen: set[tuple[int, ...]] = set()
    missing = set().union(*map(pairs, left))
    while missing:
        most = max(left, key=lambda places: len(pairs(places) & missing))
        chosen.add(most)
        missing -= pairs(most)
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(axes, places, strict=True)),
            marks=() if places in chosen else pytest.mark.nightly,
        )
        for places in left
    ]
