"""What benchmarks compute from their measurements, where the answer is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scale import many_processes as many
from benchmarks.scale.large_corpora import extrapolated


@pytest.fixture(autouse=True)
def messages_take_no_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "MESSAGE", 0.0)
        yield


@given(st.integers(1, 64), st.integers(1, 10))
def test_without_a_network_to_wait_for_only_the_gradients_are_divided(processes: int, shards_each: int) -> None:
    measured = many.Measured(1000, 0.5, 0.25, 10**6, 1e5, float("inf"))
    took = many.seconds(measured, processes, shards_each * processes, float("inf"))
    assert took == pytest.approx(0.5 * shards_each + 0.25)


def test_bytes_are_those_of_an_all_reduce_and_of_the_rows() -> None:
    measured = many.Measured(1000, 0.0, 0.0, 8000, 100.0, float("inf"))
    # 2 (N - 1) / N of the dense gradients, and the rows of all others.
    assert many.seconds(measured, 4, 4, 1.0) == pytest.approx(2 * 3 / 4 * 8000 + 3 * 100)


@given(st.floats(0, 100), st.floats(0.1, 10))
def test_a_line_is_continued(start: float, slope: float) -> None:
    sizes = [1.0, 2.0, 4.0, 8.0]
    found = extrapolated(sizes, [start + slope * size for size in sizes], 850.0)
    assert [*found.values()] == pytest.approx([start + slope * 850.0] * 3)
