"""Training on two processes of one thread beside one process of two threads: target words a second, and memory.

    python benchmarks/scale/processes.py --data DATA --output RUNS [--size small] [--rounds 7]
    python benchmarks/scale/processes.py --data DATA --output RUNS --size full --memory

The contestants read the same text, in minibatches of 80 pairs, and take turns within a round: alone, beside a program that
only counts, and beside such a program at the lowest priority. The figures are medians over the rounds. `--memory` tells the
peak memory of every process instead, and what of it are weights and the state of the optimizer.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, peak_megabytes, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, environment, prepared_text, text_system, write_training_text
from benchmarks.lib.turns import Program
from benchmarks.speed.busy_machine import PRIORITIES, busy_program

PAIRS = 100 * BATCH
CONTESTANTS: dict[str, tuple[int, dict[str, Any]]] = {
    "1 process, 2 threads": (1, {}),
    "1 process, 2 threads, 2 shards": (1, {"shards": 2}),
    "2 processes, exact": (2, {"shards": 2}),
    "2 processes, fast": (2, {"reduction": "fast"}),
}
"""The number of processes, which have two threads in all, and the settings `training.*`."""
WAITING = {"GOMP_SPINCOUNT": "1000"}
"""As the command `rnnsearch` sets it: how long a thread is busy waiting for the others."""


class _Enough(Exception):
    """The updates are done."""


class _Words:
    """A `Listener` that prints the words of every update of the first process, and ends after so many."""

    def __init__(self, speaks: bool, updates: int) -> None:
        self._speaks, self._updates = speaks, updates

    def updated(self, progress: Any, nll_per_word: float, words: int) -> None:
        if self._speaks:
            print(words, flush=True)
        if progress.update == self._updates:
            raise _Enough

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """There is no validation."""

    def notice(self, text: str) -> None:
        print(text, file=sys.stderr)


def train(text: Path, size: str, settings: dict[str, Any], updates: int) -> None:
    """Train as one of the processes that the environment describes; with a number of updates, then print the memory."""
    from rnnsearch.training import processes
    from rnnsearch.training.trainer import Trainer
    from rnnsearch.training.validation import DevelopmentSet

    processes.PATIENCE = timedelta(hours=1)  # a contestant that waits for its turn is stopped
    never = 10**9
    limits = {"max_updates": never, "validate_every": never, "checkpoint_every": never}
    system, corpus = text_system(text, SIZES[size].config({**limits, **settings}))
    with processes.joined() as all_of_them:
        trainer = Trainer(system, corpus, DevelopmentSet([], []), text, processes=all_of_them)
        try:
            trainer.run(_Words(all_of_them.first and not updates, updates))
        except _Enough:
            state = sum(value.nbytes for state in trainer.optimizer.state.values() for value in state.values())
            weights = sum(parameter.nbytes for parameter in system.model.parameters())
            print(all_of_them.rank, system.model.count_parameters(), weights, state, peak_megabytes(), flush=True)


def command(text: Path, size: str, contestant: str, updates: int = 0) -> list[object]:
    """The command line of a contestant."""
    return [sys.executable, __file__, "--train", text, "--size", size, "--contestant", contestant, "--updates", updates]


def start_others(count: int) -> None:
    """In the first of `count` processes: start the others, and describe all of them to each other, as `torchrun` does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0")
    for rank in range(1, count):
        subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(rank)})


def main() -> None:
    """Measure in rounds, and record the medians; or the memory."""
    parser = Parser(__doc__)
    parser.add_argument("--data", type=Path, help="a folder with europarl/ in it")
    parser.add_argument("--output", type=Path, help="where the text goes")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=6, help="length of a window")
    parser.add_argument("--memory", action="store_true", help="measure memory, not speed")
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--updates", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        count, settings = CONTESTANTS[arguments.contestant]
        if count > 1 and "RANK" not in os.environ:
            start_others(count)
        train(arguments.train, arguments.size, settings, arguments.updates)
        return

    on, folder = machine(), arguments.output.resolve() / "processes" / arguments.size
    if not folder.exists():
        write_training_text(prepared_text(arguments.data, arguments.output.resolve()), SIZES[arguments.size], PAIRS, folder)
    if arguments.memory:
        memory(on, folder, arguments.size)
    else:
        speed(on, folder, arguments.size, arguments.rounds, arguments.seconds)


def memory(on: dict[str, Any], text: Path, size: str) -> None:
    """Record the memory of every process of every contestant, in MB."""
    found = {}
    for name, (count, _) in CONTESTANTS.items():
        lines = subprocess.run(
            [*map(str, command(text, size, name, updates=3))],
            env=environment(2 // count),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.splitlines()
        rows = sorted([*map(int, line.split())] for line in lines)
        found[name] = {
            "parameters": rows[0][1],
            "weights_megabytes": round(rows[0][2] / 2**20),
            "optimizer_megabytes": round(rows[0][3] / 2**20),
            "peak_megabytes": [row[4] for row in rows],
        }
        print(name, found[name], flush=True)
    write_speed(f"processes-memory-{size}", machine=on, pairs=BATCH, memory=found)


def speed(on: dict[str, Any], text: Path, size: str, rounds: int, seconds: float) -> None:
    """Record the words a second of every contestant in every condition."""
    speeds: dict[str, dict[str, list[float]]] = {name: {condition: [] for condition in PRIORITIES} for name in CONTESTANTS}
    with ExitStack() as stack:
        trainings = {}
        for name, (count, _) in CONTESTANTS.items():
            trainings[name] = Program(command(text, size, name), {**environment(2 // count), **WAITING})
            stack.callback(trainings[name].end)
        for number in range(rounds):
            for condition, priority in PRIORITIES.items():
                for name, training in trainings.items():
                    with busy_program(priority):
                        speeds[name][condition].append(training.speed(seconds))
                    print(f"round {number + 1}: {name}, {condition}: {speeds[name][condition][-1]:.0f} words/s", flush=True)
    medians = {name: {of: statistics.median(found) for of, found in by.items()} for name, by in speeds.items()}
    first = medians["1 process, 2 threads"]
    write_speed(
        f"processes-{size}",
        machine=on,
        words_per_second={name: {of: round(found) for of, found in by.items()} for name, by in medians.items()},
        of_one_process={name: {of: round(found / first[of], 2) for of, found in by.items()} for name, by in medians.items()},
        rounds={name: {of: [*map(round, found)] for of, found in by.items()} for name, by in speeds.items()},
    )


if __name__ == "__main__":
    main()
