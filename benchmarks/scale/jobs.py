"""How much faster are `translate` and `prepare` in two processes than in one, and processes than threads?

Every round runs, one after the other: `translate` with one process of one thread, with one process of a thread for each
core, and with `--jobs 2`; then `prepare` with one process and with two. The order is turned around from round to round.
Times are those of the whole programs, their start included. Every output must be the same to the byte.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.lib.command import SPEED, Parser, rnnsearch, text_options
from benchmarks.lib.record import Rounds, machine, sized, write_speed
from benchmarks.lib.texts import beginning
from benchmarks.lib.turns import same_outputs


def main() -> None:
    """Measure, and write the record."""
    asked = Parser(__doc__, "model", "source", "target", *SPEED, lines=sized(4000, 40), rounds=sized(3, 1)).parse_args()
    with TemporaryDirectory() as place:
        texts = [beginning(path, asked.lines, Path(place) / path.name) for path in (asked.source, asked.target)]
        translate = rnnsearch("translate", "--no-split-sentences", "--model", asked.model, texts[0])
        prepare = rnnsearch("prepare", *text_options(*texts))
        one, two = ("--jobs", "1"), ("--jobs", "2")
        of_translate = {
            "translate, 1 process of 1 thread": ([*translate, *one], 1),
            "translate, 1 process of all threads": ([*translate, *one], None),
            "translate, 2 processes": ([*translate, *two], None),
        }
        of_prepare = {"prepare, 1 process": ([*prepare, *one], None), "prepare, 2 processes": ([*prepare, *two], None)}
        runs = Rounds[str, float]()
        for ways in (of_translate, of_prepare):
            runs |= same_outputs(ways, asked.rounds, asked.background)
    medians = runs.medians(float)
    found = {
        way: {"seconds": [run.found for run in of_way], "lines_per_second": asked.lines / medians[way]}
        for way, of_way in runs.items()
    }
    loads = [{"way": way, **run.load()} for way, of_way in runs.items() for run in of_way]
    write_speed("scale/jobs", machine(), lines=asked.lines, model=str(asked.model), found=found, loads=loads)
