"""Programs that are measured in turns: each runs only while it is its turn, and is stopped while it waits.

Their speeds are then taken within seconds of each other, so that a machine whose speed changes is the same for all of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

FEWEST_LINES = 3
"""The fewest lines that a measurement counts."""


class Program:
    """A program that prints a line whenever it has done some words, or sentences; with the processes that it starts."""

    def __init__(self, command: Sequence[object], environment: Mapping[str, str], count: Callable[[str], int] = int) -> None:
        """`count` reads from a line how many words or sentences were done. Returns when the program has warmed up."""
        self._count = count
        self._process = subprocess.Popen(
            [*map(str, command)], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._done: list[tuple[float, int]] = []
        threading.Thread(target=self._read, daemon=True).start()
        self.speed(0)

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._done.append((time.perf_counter(), self._count(line)))

    def speed(self, seconds: float) -> float:
        """Let it run for about so many seconds: words or sentences a second, from the end of one line to that of another."""
        first = len(self._done)
        end = time.perf_counter() + seconds
        os.killpg(self._process.pid, signal.SIGCONT)
        while time.perf_counter() < end or len(self._done) <= first + FEWEST_LINES:
            if self._process.poll() is not None:
                raise SystemExit("a measured program has ended")
            time.sleep(0.02)
        os.killpg(self._process.pid, signal.SIGSTOP)
        (began, _), *done = self._done[first:]
        return sum(count for _, count in done) / (done[-1][0] - began)

    def end(self) -> None:
        """Kill it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
