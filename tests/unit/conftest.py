from __future__ import annotations

import sys

import pytest

from command_line import Done, Run
from rnnsearch.cli import main


@pytest.fixture
def rnnsearch(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with these arguments."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["rnnsearch", *map(str, arguments)])
        capfd.readouterr()
        status: object = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        captured = capfd.readouterr()
        assert isinstance(status, int)
        return Done(status, captured.out, captured.err)

    return run
