"""Training speed beside a busy program: target words a second of the preset `small` on the built-in corpus.

    python benchmarks/speed/busy_machine.py --output RUNS [--rounds 7] [--environment GOMP_SPINCOUNT=300000]

In every round, the speed is measured alone, beside a program that only counts, and beside such a program at the lowest
priority (nice 19). The figures are medians over the rounds, and a measurement lasts from the end of one update to the end of
another. Every `--environment` adds a training with these environment variables; the trainings take turns within a round, and
those that wait are stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, environment
from benchmarks.lib.record import TINY, machine, sized, write_speed
from benchmarks.lib.training import WITHOUT_END, trainer_of, watch
from benchmarks.lib.turns import beside_programs, medians, rounded
from rnnsearch.config import from_preset
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import open_prepared
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.model_folder import new_system

PAIRS = sized(8000, 400)
PRESET = "demo" if TINY else "small"


def train(data: Path) -> None:
    """Train without end, and print the target words of every update."""
    prepared = open_prepared(data)
    torch.manual_seed(1)
    system = new_system(from_preset(PRESET, {"training": WITHOUT_END}), prepared.vocabularies)
    watch(trainer_of(system, prepared.corpus), lambda number, nll, words: print(words, flush=True))


def main() -> None:
    """Measure in rounds, and record the medians."""
    parser = Parser(__doc__, "output")
    parser.add_speed(rounds=sized(7, 1))
    parser.add_argument("--seconds", type=float, default=sized(6, 0.2), help="length of a window")
    parser.add_argument("--environment", action="append", metavar="KEY=VALUE[,KEY=VALUE]")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = arguments.output.resolve() / "busy-machine"
    if arguments.train:
        train(folder / "prepared")

    on = machine()
    if not (folder / "prepared").exists():
        write_corpus(folder, train=PAIRS, valid=1, test=1)
        prepare([folder / "train.en"], [folder / "train.fr"], folder / "prepared", from_preset(PRESET).data)
    command = [sys.executable, __file__, "--train", "--output", arguments.output]
    names = arguments.environment or ["GOMP_SPINCOUNT=1000"]
    variables = {name: dict(variable.split("=", 1) for variable in name.split(",") if variable) for name in names}
    speeds = beside_programs(
        {name: (command, environment(arguments.threads, **variables[name])) for name in names},
        arguments.rounds,
        arguments.seconds,
    )
    write_speed(
        "speed/busy_machine",
        machine=on,
        threads=arguments.threads,
        words_per_second=rounded(medians(speeds)),
        share_of_alone={
            name: {of: round(speed / by["alone"], 2) for of, speed in by.items()} for name, by in medians(speeds).items()
        },
        rounds=rounded(speeds),
    )


if __name__ == "__main__":
    main()
