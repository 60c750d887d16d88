"""The part of a development set that is translated."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.training.validation import DevelopmentSet


@given(pairs=st.integers(1, 300), count=st.integers(1, 400))
def test_the_part_is_drawn_evenly_and_in_order(pairs: int, count: int) -> None:
    part = DevelopmentSet([f"s{i}" for i in range(pairs)], [f"t{i}" for i in range(pairs)]).part(count)
    numbers = [int(line[1:]) for line in part.sources]
    assert len(numbers) == min(pairs, count)
    assert [line[1:] for line in part.references] == [line[1:] for line in part.sources]
    gaps = np.diff([*numbers, pairs])
    assert numbers[0] == 0
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1
