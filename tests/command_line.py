"""The command line in tests: what a command left, and what a refusal must look like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass
class Done:
    status: int
    out: str
    err: str


Run: TypeAlias = Callable[..., Done]
Folders: TypeAlias = Callable[[str], Path]


def refused(done: Done, *told: object) -> None:
    """One line that says these things, and status 2."""
    assert done.status == 2, done.err
    assert done.err.startswith("rnnsearch: "), done.err
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for part in told:
        assert str(part) in done.err
