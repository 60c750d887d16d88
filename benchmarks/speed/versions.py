"""Training and translation speed of this version beside an earlier one, in turns.

    python benchmarks/speed/versions.py --against PATH [--rounds 25] [--size small] [--set training.precision=bf16]

PATH is a checkout of the earlier version. Training: words a second of updates on random sentences of 25 words, by
`our_training.py` of each version. Translation: sentences a second of a model that the earlier version wrote, by its fast
backend and exact, 25 sentences together, beam 5, and as many words as the source has. The ratio is the median of the ratios
of single rounds, whose middle half is recorded too.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, environment, rnnsearch, settings
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.lib.speed_text import SIZES
from benchmarks.lib.turns import Program
from rnnsearch.datasets.builtin import write_corpus

REPOSITORY = Path(__file__).resolve().parents[2]
WORDS = 25
UPDATES = sized(1_000, 100)
"""More than there is time for."""

TRANSLATE = """
import sys, rnnsearch
translator = rnnsearch.load(sys.argv[1])
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
exactly = {"minimum_length_ratio": 1.0, "maximum_length_ratio": 1.0, "beam": 5, "batch_sentences": 25}
while True:
    for start in range(0, len(lines), 25):
        translator.translate(lines[start : start + 25], **exactly)
        print(25, flush=True)
"""


def training_of(version: Path) -> Path:
    """The script that trains, at its place in this version, or where it was before."""
    places = (version / "benchmarks" / place for place in ("peers/rnnsearch/training.py", "our_training.py"))
    return next(place for place in places if place.exists())


def trained_by(version: Path, folder: Path) -> Path:
    """A model of the preset `small` after one update, in a format that both versions read."""
    text = ["--source", "train.en", "--target", "train.fr", "--valid-source", "valid.en", "--valid-target", "valid.fr"]
    limits = settings({"training.max_updates": 1, "training.validate_every": 1})
    command = rnnsearch("train", *text, "--output", "model", *limits)
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(version / "src")}, check=True)
    return folder / "model"


def measured(programs: dict[str, Program], rounds: int, seconds: float) -> dict[str, Any]:
    """Speeds of both versions in turns, and the ratio of now to earlier."""
    speeds: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds):
        for name in sorted(programs, reverse=number % 2 == 1):
            speeds[name].append(programs[name].speed(seconds))
    for program in programs.values():
        program.end()
    ratios = sorted(now / earlier for now, earlier in zip(speeds["now"], speeds["earlier"], strict=True))
    medians = {name: statistics.median(found) for name, found in speeds.items()}
    return {
        "speed": {name: round(median, 1) for name, median in medians.items()},
        "ratio": round(statistics.median(ratios), 3),
        "ratio_of_rounds": [round(ratios[len(ratios) // 4], 3), round(ratios[-1 - len(ratios) // 4], 3)],
        "rounds": {name: [round(one, 1) for one in found] for name, found in speeds.items()},
    }


def main() -> None:
    """Measure training and translation, and record both."""
    parser = Parser(__doc__)
    parser.add_argument("--against", type=Path, required=True, help="a checkout of the earlier version")
    parser.add_argument("--rounds", type=int, default=sized(25, 1))
    parser.add_argument("--seconds", type=float, default=sized(4, 0.2), help="length of a turn")
    parser.add_argument("--size", choices=SIZES, default=sized("small", "tiny"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training")
    arguments = parser.parse_args()

    on = machine()
    versions = {"earlier": arguments.against.resolve(), "now": REPOSITORY}
    environments = {
        name: {**environment(arguments.threads), "PYTHONPATH": str(version / "src"), "GOMP_SPINCOUNT": "1000"}
        for name, version in versions.items()
    }
    options = ["--words", WORDS, "--size", arguments.size, "--updates", UPDATES]
    options += [part for setting in arguments.set for part in ("--set", setting)]
    trainings = {
        name: Program(
            [sys.executable, training_of(version), *options],
            environments[name],
            lambda line: int(json.loads(line)["words"]),
        )
        for name, version in versions.items()
    }
    found = {"training, words a second": measured(trainings, arguments.rounds, arguments.seconds)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, train=sized(20_000, 200), valid=sized(500, 25), test=1)
        model = trained_by(versions["earlier"], folder)
        translations = {
            name: Program([sys.executable, "-c", TRANSLATE, model, folder / "valid.en"], environments[name])
            for name in versions
        }
        found["translation, sentences a second"] = measured(translations, arguments.rounds, arguments.seconds)
    for what, row in found.items():
        print(f"{what}: {row['speed']}, ratio {row['ratio']} {row['ratio_of_rounds']}")
    commits = {
        name: subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=version, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()
        for name, version in versions.items()
    }
    asked = {"threads": arguments.threads, "size": arguments.size, "settings": arguments.set}
    write_speed("speed/versions", machine=on, **asked, commits=commits, **found)


if __name__ == "__main__":
    main()
