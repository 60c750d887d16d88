"""Training speed beside a busy program: target words a second of the preset `small` on the built-in corpus.

    python benchmarks/speed/busy_machine.py --output RUNS [--rounds 7] [--environment GOMP_SPINCOUNT=300000]

In every round, the speed is measured alone, beside a program that only counts, and beside such a program at the lowest
priority (nice 19). The figures are medians over the rounds, and a measurement lasts from the end of one update to the end of
another. Every `--environment` adds a training with these environment variables; the trainings take turns within a round, and
those that wait are stopped.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_speed
from benchmarks.lib.speed_text import environment
from benchmarks.lib.turns import Program

PRIORITIES: dict[str, int | None] = {"alone": None, "beside a program": 0, "beside a program at nice 19": 19}
PAIRS = 8000

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


def train(data: Path) -> None:
    """Train without end, and print the target words of every update."""
    import torch

    from rnnsearch.config import from_preset
    from rnnsearch.data.prepared import open_prepared
    from rnnsearch.model_folder import new_system
    from rnnsearch.training.checkpoint import Progress
    from rnnsearch.training.trainer import Trainer
    from rnnsearch.training.validation import DevelopmentSet

    class Listener:
        def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
            print(words, flush=True)

        def validated(self, row: dict[str, Any], best: bool) -> None:
            """There is no validation."""

        def notice(self, text: str) -> None:
            print(text, file=sys.stderr)

    prepared = open_prepared(data)
    never = 10**9
    training = {"max_updates": never, "validate_every": never, "checkpoint_every": never}
    config = from_preset("small", {"training": training})
    torch.manual_seed(1)
    system = new_system(config, prepared.vocabularies)
    Trainer(system, prepared.corpus, DevelopmentSet([], []), data).run(Listener())


def main() -> None:
    """Measure in rounds, and record the medians."""
    parser = Parser(__doc__)
    parser.add_argument("--output", type=Path, help="where the text goes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=6, help="length of a window")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--environment", action="append", metavar="KEY=VALUE[,KEY=VALUE]")
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(arguments.train)

    from rnnsearch.config import from_preset
    from rnnsearch.data.prepare import prepare
    from rnnsearch.datasets.builtin import write_corpus

    on, folder = machine(), arguments.output.resolve() / "busy-machine"
    if not (folder / "prepared").exists():
        write_corpus(folder, train=PAIRS, valid=1, test=1)
        prepare([folder / "train.en"], [folder / "train.fr"], folder / "prepared", from_preset("small").data)

    speeds: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        trainings: dict[str, Program] = {}
        for name in arguments.environment or ["GOMP_SPINCOUNT=1000"]:
            variables = dict(variable.split("=", 1) for variable in name.split(",") if variable)
            command = [sys.executable, __file__, "--train", folder / "prepared"]
            trainings[name] = Program(command, {**environment(arguments.threads), **variables})
            stack.callback(trainings[name].end)
        for number in range(arguments.rounds):
            for name, training in trainings.items():
                for condition, priority in PRIORITIES.items():
                    with busy_program(priority):
                        speed = training.speed(arguments.seconds)
                    speeds.setdefault(name, {}).setdefault(condition, []).append(speed)
                    print(f"round {number + 1}: {name}, {condition}: {speed:.0f} words/s", flush=True)

    medians = {name: {of: statistics.median(found) for of, found in by.items()} for name, by in speeds.items()}
    write_speed(
        "busy-machine",
        machine=on,
        threads=arguments.threads,
        words_per_second={name: {of: round(speed) for of, speed in by.items()} for name, by in medians.items()},
        share_of_alone={
            name: {of: round(speed / by["alone"], 2) for of, speed in by.items()} for name, by in medians.items()
        },
        rounds={name: {of: list(map(round, found)) for of, found in by.items()} for name, by in speeds.items()},
    )


if __name__ == "__main__":
    main()
