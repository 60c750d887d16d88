"""How fast is translating with Ray beside `--jobs`, with two workers of one thread each on the same machine?

    python benchmarks/scale/cluster.py --model MODEL --source TEXT.en [--lines 4000] [--rounds 3]

Times are those of the whole programs: with Ray, also that of starting it, of writing the rows, and of writing the text in
order again; these are told separately. The outputs must be the same to the byte.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, environment, rnnsearch
from benchmarks.lib.record import machine, sized, write_speed
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines

WORKERS = 2
BATCH = sized(250, 10)
"""Rows that a worker takes at a time: fewer than by default, so that there are enough for both."""


def with_ray(model: Path, source: Path, output: Path) -> None:
    """Translate in a Ray of one machine, and print the seconds of each step."""
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
    print(json.dumps(times))


def run(command: list[str]) -> tuple[float, str]:
    """The seconds of a program with one thread, and what it prints."""
    began = time.perf_counter()
    done = subprocess.run(
        command, env=environment(1), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    )
    return time.perf_counter() - began, done.stdout


def main() -> None:
    """Measure in rounds, and record the medians."""
    parser = Parser(__doc__, "model", "source")
    parser.add_argument("--lines", type=int, default=sized(4000, 40))
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--ray-output", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.ray_output:
        with_ray(asked.model, asked.source, asked.ray_output)
        return
    on = machine()
    seconds: dict[str, list[float]] = {"--jobs 1, one thread": [], f"--jobs {WORKERS}": [], f"Ray, {WORKERS} workers": []}
    steps: list[dict[str, Any]] = []
    with TemporaryDirectory() as place:
        source = Path(place) / "text"
        write_text(source, "".join(f"{line}\n" for line in islice(read_lines(asked.source), asked.lines)))
        for number in range(asked.rounds):
            outputs = [Path(place) / f"{number}-{name}" for name in ("one", "jobs", "ray")]
            translate = rnnsearch("translate", "--model", asked.model, source, "--no-split-sentences", "--output")
            again = [sys.executable, __file__, "--model", str(asked.model), "--source", str(source), "--ray-output"]
            found = (
                run([*translate, str(outputs[0])]),
                run([*translate, str(outputs[1]), "--jobs", str(WORKERS)]),
                run([*again, str(outputs[2])]),
            )
            for name, (took, _) in zip(seconds, found, strict=True):
                seconds[name].append(round(took, 1))
            steps.append(json.loads(found[2][1].splitlines()[-1]))
            if len({output.read_bytes() for output in outputs}) != 1:
                raise SystemExit("the outputs differ")
            print({name: took[-1] for name, took in seconds.items()}, steps[-1], flush=True)
    write_speed(
        "scale/cluster",
        machine=on,
        lines=asked.lines,
        seconds=seconds,
        median={name: statistics.median(found) for name, found in seconds.items()},
        ray_steps={step: statistics.median(each[step] for each in steps) for step in steps[0]},
    )


if __name__ == "__main__":
    main()
