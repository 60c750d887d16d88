"""Measurements in rounds, and whole programs that have to write the same bytes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from benchmarks.lib.record import in_rounds
from benchmarks.lib.turns import same_outputs

WRITE = "import pathlib, sys; output = pathlib.Path(sys.argv[-1]); {}"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.lib.record.background_load", lambda seconds: 0.0)


def writing(how: str) -> tuple[Sequence[object], int | None]:
    return [sys.executable, "-S", "-c", WRITE.format(how)], 1


def test_everyone_is_measured_in_every_round_and_the_order_is_turned_around() -> None:
    order = []

    def measure(name: str, number: int) -> str:
        order.append((name, number))
        return f"{name}{number}"

    runs = in_rounds(["a", "b"], measure, 3, float("inf"), lambda name, found: found)
    assert order == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert {name: [run.found for run in of] for name, of in runs.items()} == {
        "a": ["a0", "a1", "a2"],
        "b": ["b0", "b1", "b2"],
    }


def test_programs_that_write_the_same_bytes_are_timed() -> None:
    ways = {"a file": writing("output.write_text('same')"), "the same": writing("output.write_bytes(b'same')")}
    runs = same_outputs(ways, 1, float("inf"))
    assert [[run.found > 0 for run in of_way] for of_way in runs.values()] == [[True]] * 2


def test_programs_that_write_other_bytes_are_refused() -> None:
    ways = {"one": writing("output.mkdir(); (output / 'part').write_text('1')"), "other": writing("output.write_text('2')")}
    with pytest.raises(SystemExit, match="one, other: the outputs differ"):
        same_outputs(ways, 1, float("inf"))
