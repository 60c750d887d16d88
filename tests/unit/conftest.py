from __future__ import annotations

import functools
import sys

import pytest
import typer.main

from command_line import Done, Run
from rnnsearch.cli import main

_parser = functools.cache(typer.main.get_command)
"""The parser of the command line: to build it takes longer than most commands do."""


@pytest.fixture
def rnnsearch(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with these arguments."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(typer.main, "get_command", _parser)

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
