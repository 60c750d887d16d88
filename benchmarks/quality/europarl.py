"""Training on 200,000 Europarl pairs for a few minutes: words a second, and the memory it takes.

    python benchmarks/quality/europarl.py --data DATA --output RUNS [--minutes 4]

The pairs are the first of europarl-part0; the development set is the next thousand of them.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, cost_of, rnnsearch, settings
from benchmarks.lib.record import machine, sized, write_result
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines

PAIRS, HELD_OUT = sized((200_000, 500), (200, 10))


def main() -> None:
    """Cut out the pairs, prepare, train, record."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--minutes", type=float, default=sized(4.0, 0.05))
    arguments = parser.parse_args()

    on = machine()
    folder = arguments.output / "europarl-200k"
    for language in ("en", "fr"):
        lines = read_lines(arguments.data / "europarl" / f"europarl-part0.{language}.xz")
        write_text(folder / f"train.{language}", "".join(f"{line}\n" for line in itertools.islice(lines, PAIRS)))
        write_text(folder / f"valid.{language}", "".join(f"{line}\n" for line in itertools.islice(lines, HELD_OUT)))

    text = ["--source", folder / "train.en", "--target", folder / "train.fr"]
    preparing = cost_of(rnnsearch("prepare", *text, "--output", folder / "data"))
    valid = ["--valid-source", folder / "valid.en", "--valid-target", folder / "valid.fr"]
    limits = settings({"training.max_minutes": arguments.minutes, "training.validate_every": 100_000})
    training_cost = cost_of(rnnsearch("train", "--data", folder / "data", *valid, "--output", folder / "model", *limits))
    training = json.loads((folder / "model" / "training.json").read_text())
    write_result(
        "quality/europarl",
        machine=on,
        prepare=rounded(preparing),
        train={**rounded(training_cost), "target_words_per_second": training["target_words_per_second"]},
        training=training,
    )


def rounded(cost: dict[str, float]) -> dict[str, float]:
    """The seconds and the peak memory of a command."""
    return {"seconds": round(cost["passed"], 1), "peak_megabytes": cost["megabytes"]}


if __name__ == "__main__":
    main()
