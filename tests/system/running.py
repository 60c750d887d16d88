"""The command line as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import forked

COMMAND = [sys.executable, "-c", "from rnnsearch.cli import main; main()"]
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}

# A shell's background job ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(*arguments: object, program: list[str] = COMMAND, cold: bool = False) -> subprocess.Popen[Any]:
    """Run `rnnsearch` with these arguments, on all cores; its output waits to be read. `cold`: in a new Python."""
    popen = subprocess.Popen if cold else forked.Popen
    return popen(
        [*program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=ENVIRONMENT,
    )


def rnnsearch(*arguments: object, cold: bool = False) -> str:
    """Run it to its end, and return what it printed; standard error, too, goes into a failure's message."""
    process = start(*arguments, cold=cold)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, f"rnnsearch {' '.join(map(str, arguments))}: {process.returncode}\n{err}"
    return out


