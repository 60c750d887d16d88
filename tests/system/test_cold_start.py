"""The ways to start the command line, each in a new Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from running import ENVIRONMENT, rnnsearch

SCRIPT = Path(sys.executable).with_name("rnnsearch")


@pytest.mark.parametrize("program", [[str(SCRIPT)], [sys.executable, "-m", "rnnsearch"]], ids=["script", "module"])
def test_it_starts(program: list[str]) -> None:
    arguments = [*program, "presets", "small"]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == rnnsearch("presets", "small")
