"""How fast is translating with Ray beside `--jobs`, with two workers of one thread each on the same machine?

Times are those of the whole programs: with Ray, also that of starting it, of writing the rows, and of writing the text in
order again; these are told separately. The outputs must be the same to the byte.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.lib.command import SPEED, Parser, rnnsearch, script
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.lib.texts import beginning
from benchmarks.lib.turns import same_outputs
from rnnsearch.data.lines import read_lines

WORKERS = 2
BATCH = sized(250, 10)
"""Rows that a worker takes at a time: fewer than by default, so that there are enough for both."""


def with_ray(model: Path, source: Path, output: Path, steps: Path) -> None:
    """Translate in a Ray of one machine, and add the seconds of each step to a file."""
    import ray

    from rnnsearch import cluster

    times, began = {}, time.perf_counter()

    def note(step: str) -> None:
        nonlocal began
        times[step] = round(time.perf_counter() - began, 1)
        began = time.perf_counter()

    # Workers count as one CPU each; what reads and writes has little to do.
    ray.init(num_cpus=2 * WORKERS, log_to_driver=False)
    note("start Ray")
    folders = [str(output.with_name(f"{output.name}-{name}")) for name in ("rows", "translated")]
    cluster.to_parquet(folders[0], [source])
    rows = ray.data.read_parquet(folders[0])
    note("write rows")
    options = {"concurrency": WORKERS, "batch_size": BATCH}
    cluster.save(cluster.translate(rows, str(model), ray_options=options, split_sentences=False), folders[1])
    note("translate")
    cluster.to_text(folders[1], output, "translation")
    note("write text")
    with steps.open("a") as file:
        file.write(json.dumps(times) + "\n")


def main() -> None:
    """Measure in rounds, and record the medians."""
    parser = Parser(__doc__, "model", "source", *SPEED, lines=sized(4000, 40), rounds=sized(3, 1))
    parser.add_argument("--steps", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.steps:
        with_ray(asked.model, asked.source, asked.output, asked.steps)
        return
    on = machine()
    with TemporaryDirectory() as place:
        source, notes = beginning(asked.source, asked.lines, Path(place) / "text"), Path(place) / "steps"
        translate = rnnsearch("translate", "--model", asked.model, source, "--no-split-sentences", "--jobs")
        ray = script("scale/cluster", "--model", asked.model, "--source", source, "--steps", notes)
        ways: dict[str, tuple[list[object], int | None]] = {
            "--jobs 1, one thread": ([*translate, 1], 1),
            f"--jobs {WORKERS}": ([*translate, WORKERS], 1),
            f"Ray, {WORKERS} workers": ([*ray], 1),
        }
        runs = same_outputs(ways, asked.rounds, asked.background)
        steps = [json.loads(line) for line in read_lines(notes)]
    seconds = {way: [round(run.found, 1) for run in of_way] for way, of_way in runs.items()}
    write_speed(
        "scale/cluster",
        machine=on,
        lines=asked.lines,
        seconds=seconds,
        median={name: statistics.median(found) for name, found in seconds.items()},
        ray_steps={step: statistics.median(each[step] for each in steps) for step in steps[0]},
    )
