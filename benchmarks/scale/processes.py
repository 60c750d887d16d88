"""Training on two processes of one thread beside one process of two threads: target words a second, and memory.

    python benchmarks scale/processes --data DATA --output RUNS [--size small] [--rounds 7]
    python benchmarks scale/processes --data DATA --output RUNS --waiting
    python benchmarks scale/processes --data DATA --output RUNS --size full --memory

The contestants read the same text, in minibatches of 80 pairs, and take turns within a round: alone, beside a program that
only counts, and beside such a program at the lowest priority. The figures are medians over the rounds. With `--waiting`, the
contestants are one process each, whose threads wait for each other busily for a short or for a long time. `--memory` tells
the peak memory of every process instead, and what of it are weights and the state of the optimizer.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser, environment, script
from benchmarks.lib.processes import peak_megabytes
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, prepared_text, text_system, write_training_text
from benchmarks.lib.training import WITHOUT_END, Enough, trainer_of, watch
from benchmarks.lib.turns import beside_programs, medians, rounded
from rnnsearch.training import processes

PAIRS = sized(100, 2) * BATCH
CONTESTANTS: dict[str, tuple[int, dict[str, object]]] = {
    "1 process, 2 threads": (1, {}),
    "1 process, 2 threads, 2 shards": (1, {"shards": 2}),
    "2 processes, exact": (2, {"shards": 2}),
    "2 processes, fast": (2, {"reduction": "fast"}),
}
"""The number of processes, which have two threads in all, and the settings `training.*`."""
WAITING = ("1000", sized("300000", "2000"))
"""How long a thread is busy waiting for the others, by `GOMP_SPINCOUNT`: as `rnnsearch` sets it, and by default."""


def train(text: Path, size: str, settings: dict[str, object], updates: int) -> None:
    """Train as one of the processes that the environment describes; with a number of updates, then print the memory."""
    processes.PATIENCE = timedelta(hours=1)  # a contestant that waits for its turn is stopped
    system, corpus = text_system(text, SIZES[size].config({**WITHOUT_END, **settings}))
    with processes.joined() as all_of_them:
        trainer = trainer_of(system, corpus, all_of_them)

        def after(number: int, nll_per_word: float, words: int) -> None:
            if all_of_them.first and not updates:
                print(words, flush=True)
            if number == updates:
                raise Enough

        watch(trainer, after)
        state = sum(value.nbytes for state in trainer.optimizer.state.values() for value in state.values())
        weights = sum(parameter.nbytes for parameter in system.model.parameters())
        numbers = (all_of_them.rank, system.model.count_parameters(), weights, state, peak_megabytes())
        sys.stdout.write(" ".join(map(str, numbers)) + "\n")  # One write: the other process writes to the same pipe.
        sys.stdout.flush()


def start_others(count: int) -> None:
    """In the first of `count` processes: start the others, and describe all of them to each other, as `torchrun` does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0")
    for rank in range(1, count):
        subprocess.Popen(script(*sys.argv), env={**os.environ, "RANK": str(rank)})


def main() -> None:
    """Measure in rounds, and record the medians; or the memory."""
    parser = Parser(
        __doc__,
        "data",
        "output",
        size=sized("small", "tiny"),
        rounds=sized(7, 1),
        seconds=sized(6.0, 0.2),
        waiting=False,
        memory=False,
    )
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--updates", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    size, folder = arguments.size, arguments.output.resolve() / "processes" / arguments.size
    if arguments.contestant:
        count, settings = CONTESTANTS[arguments.contestant]
        if count > 1 and "RANK" not in os.environ:
            start_others(count)
        train(folder, size, settings, arguments.updates)
        return

    on = machine()
    if not folder.exists():
        write_training_text(prepared_text(arguments.data, arguments.output.resolve()), SIZES[size], PAIRS, folder)
    shared = script("scale/processes", "--data", arguments.data, "--output", arguments.output, "--size", size)
    commands: dict[str, tuple[list[object], dict[str, str]]] = {
        name: ([*shared, "--contestant", name], environment(2 // count, GOMP_SPINCOUNT=WAITING[0]))
        for name, (count, _) in CONTESTANTS.items()
    }
    if arguments.memory:
        found = {name: memory([*command, "--updates", 3], variables) for name, (command, variables) in commands.items()}
        write_speed(f"scale/processes-memory-{size}", machine=on, pairs=BATCH, memory=found)
        return
    if arguments.waiting:
        command, variables = commands["1 process, 2 threads"]
        commands = {f"GOMP_SPINCOUNT={spin}": (command, {**variables, "GOMP_SPINCOUNT": spin}) for spin in WAITING}
    speeds = beside_programs(commands, arguments.rounds, arguments.seconds)
    first = next(iter(medians(speeds).values()))
    write_speed(
        f"scale/processes-{'waiting-' if arguments.waiting else ''}{size}",
        machine=on,
        words_per_second=rounded(medians(speeds)),
        of_one_process={
            name: {of: round(found / first[of], 2) for of, found in by.items()} for name, by in medians(speeds).items()
        },
        rounds=rounded(speeds),
    )


def memory(command: list[object], variables: dict[str, str]) -> dict[str, Any]:
    """The memory of every process of a contestant, in MB."""
    done = subprocess.run([*map(str, command)], env=variables, stdout=subprocess.PIPE, text=True, check=True)
    rows = sorted([*map(int, line.split())] for line in done.stdout.splitlines())
    return {
        "parameters": rows[0][1],
        "weights_megabytes": round(rows[0][2] / 2**20),
        "optimizer_megabytes": round(rows[0][3] / 2**20),
        "peak_megabytes": [row[4] for row in rows],
    }
