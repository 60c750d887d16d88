"""Programs that are measured in turns: whole ones, or such that are stopped while they wait for their turn.

The speeds of the latter are taken within seconds of each other, so that a machine whose speed changes is the same for all.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.lib.command import cost_of
from benchmarks.lib.record import Rounds, in_rounds


def same_outputs(
    ways: Mapping[str, tuple[Sequence[object], int | None]], rounds: int, background: float
) -> Rounds[str, float]:
    """The seconds of whole programs, each a command and its threads, in every round.

    The commands get the option `--output`, and all of them have to write the same bytes there, to a file or a folder.
    """
    digests = set()

    def seconds(way: str, _: int) -> float:
        command, threads = ways[way]
        with TemporaryDirectory() as folder:
            output = Path(folder) / "output"
            cost = cost_of([*map(str, command), "--output", str(output)], threads)
            files = [output] if output.is_file() else sorted(output.iterdir())
            digests.add(blake2b(b"".join(file.read_bytes() for file in files)).digest())
        return cost["passed"]

    runs = in_rounds(ways, seconds, rounds, background, lambda _, took: f"{took:.1f} s")
    if len(digests) > 1:
        raise SystemExit(f"{', '.join(ways)}: the outputs differ")
    return runs


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


PRIORITIES: dict[str, int | None] = {"alone": None, "beside a program": 0, "beside a program at nice 19": 19}
"""What runs beside a measured program."""
Speeds = dict[str, dict[str, list[float]]]


@contextmanager
def busy_program(priority: int | None) -> Iterator[None]:
    """A program that only counts runs meanwhile, at this priority; with None, there is no such program."""
    if priority is None:
        yield
        return
    program = subprocess.Popen(["nice", "-n", str(priority), sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        yield
    finally:
        program.kill()
        program.wait()


def beside_programs(
    commands: Mapping[str, tuple[Sequence[object], Mapping[str, str]]], rounds: int, seconds: float
) -> Speeds:
    """The speeds of programs, each a command and its environment, in all rounds, for each of `PRIORITIES`."""
    speeds: Speeds = {name: {condition: [] for condition in PRIORITIES} for name in commands}
    with ExitStack() as stack:
        programs = {}
        for name, (command, environment) in commands.items():
            programs[name] = Program(command, environment)
            stack.callback(programs[name].end)
        for number in range(rounds):
            for condition, priority in PRIORITIES.items():
                for name, program in programs.items():
                    with busy_program(priority):
                        speeds[name][condition].append(program.speed(seconds))
                    print(f"round {number + 1}: {name}, {condition}: {speeds[name][condition][-1]:.0f} words/s", flush=True)
    return speeds


def medians(speeds: Speeds) -> dict[str, dict[str, float]]:
    """The median of all rounds."""
    return {name: {of: statistics.median(found) for of, found in by.items()} for name, by in speeds.items()}


def rounded(speeds: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same, in whole numbers."""
    return {
        name: {of: [*map(round, found)] if isinstance(found, list) else round(found) for of, found in by.items()}
        for name, by in speeds.items()
    }
