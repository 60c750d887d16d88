"""The command line as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import forked

COMMAND = [sys.executable, "-c", "from rnnsearch.cli import main; main()"]
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
ALL_CORES = {name: value for name, value in ENVIRONMENT.items() if name != "OMP_NUM_THREADS"}
"""The environment of a program with a thread for each core."""

# A shell's background job ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(
    *arguments: object,
    program: list[str] = COMMAND,
    cold: bool = False,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> subprocess.Popen[Any]:
    """Run `rnnsearch` with these arguments; its output waits to be read. `cold`: in a new Python."""
    popen = subprocess.Popen if cold else forked.Popen
    return popen(
        [*program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    )


def rnnsearch(*arguments: object, cold: bool = False, environment: Mapping[str, str] = ENVIRONMENT) -> str:
    """Run it to its end, and return what it printed; standard error, too, goes into a failure's message."""
    process = start(*arguments, cold=cold, environment=environment)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, f"rnnsearch {' '.join(map(str, arguments))}: {process.returncode}\n{err}"
    return out
