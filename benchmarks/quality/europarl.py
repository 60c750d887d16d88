"""Training on 200,000 Europarl pairs for a few minutes: words a second, and the memory it takes.

    python benchmarks/quality/europarl.py --data DATA --output RUNS [--minutes 4]

The pairs are the first of europarl-part0; the development set is the next thousand of them.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines

PAIRS, HELD_OUT = 200_000, 500


def main() -> None:
    """Cut out the pairs, prepare, train, record."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--minutes", type=float, default=4.0)
    arguments = parser.parse_args()

    on = machine()
    folder = arguments.output / "europarl-200k"
    for language in ("en", "fr"):
        lines = read_lines(arguments.data / "europarl" / f"europarl-part0.{language}.xz")
        write_text(folder / f"train.{language}", "".join(f"{line}\n" for line in itertools.islice(lines, PAIRS)))
        write_text(folder / f"valid.{language}", "".join(f"{line}\n" for line in itertools.islice(lines, HELD_OUT)))

    text = ["--source", folder / "train.en", "--target", folder / "train.fr"]
    prepare_seconds, prepare_memory = run("prepare", *text, "--output", folder / "data")
    valid = ["--valid-source", folder / "valid.en", "--valid-target", folder / "valid.fr"]
    limits = ["--set", f"training.max_minutes={arguments.minutes}", "--set", "training.validate_every=100000"]
    train_seconds, train_memory = run(
        "train", "--data", folder / "data", *valid, "--output", folder / "model", *limits
    )
    training = json.loads((folder / "model" / "training.json").read_text())
    write_result(
        "europarl-200k",
        machine=on,
        prepare={"seconds": prepare_seconds, "peak_megabytes": prepare_memory},
        train={
            "seconds": train_seconds,
            "peak_megabytes": train_memory,
            "target_words_per_second": training["target_words_per_second"],
        },
        training=training,
    )


def run(*command: object) -> tuple[float, float]:
    """Run a command of rnnsearch: the seconds it took, and the largest resident memory so far of any of them, in MB."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return round(time.monotonic() - began, 1), round(peak)


if __name__ == "__main__":
    main()
