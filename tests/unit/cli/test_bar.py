"""How far a command is, in a log: what is told, and that short work says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch.cli import bar as module
from rnnsearch.cli.bar import bar


class Clock:
    """The time, which passes when a test says so."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_each_minute_has_a_line(clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("a line\n" * 600, encoding="utf-8")
    with bar("translating", tmp_path / "text") as advance:
        for _ in range(5):
            clock.now += 30
            advance(30)
    assert capsys.readouterr().err.splitlines() == [
        "translating: 60 of 600 done, 1.0 lines/s, 9 minutes left",
        "translating: 120 of 600 done, 1.0 lines/s, 8 minutes left",
    ]


def test_of_a_pipe_the_end_is_not_known(clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with bar("translating", tmp_path / "is-no-file") as advance:
        clock.now += 61
        advance(0)
        advance(122)
    assert capsys.readouterr().err == "translating: 122 done, 2.0 lines/s\n"


def test_short_work_and_unwanted_bars_say_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with bar("translating", total=10) as advance, bar("translating", total=10, shown=False) as unwanted:
        clock.now += 59
        advance(10)
        clock.now += 59
        unwanted(10)
    assert capsys.readouterr().err == ""
