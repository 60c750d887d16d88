"""How much faster are `translate` and `prepare` in two processes than in one, and processes than threads?

    python benchmarks/scale/jobs.py --model MODEL --source train.en --target train.fr [--lines 4000] [--rounds 3] [--jobs 2]

Every round runs, one after the other: `translate` with one process of one thread, with one process of a thread for each
core, and with `--jobs`; and `prepare` with one process and with `--jobs`. The order is turned around from round to round.
Times are those of the whole programs, their start included. Every output must be the same to the byte.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from functools import partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import BACKGROUND, machine, undisturbed, write_speed


def attempt(command: list[str], outputs: Path, threads: int | None) -> tuple[float, str]:
    """One run, with an output of its own."""
    outputs.mkdir(exist_ok=True)
    return timed(command, outputs / str(len(list(outputs.iterdir()))), threads)


def timed(command: list[str], output: Path, threads: int | None) -> tuple[float, str]:
    """The seconds that a command takes, and a digest of what it has written."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "rnnsearch", *command, "--output", str(output)], env=environment, check=True)
    seconds = time.perf_counter() - began
    files = [output] if output.is_file() else sorted(output.iterdir())
    return seconds, blake2b(b"".join(file.read_bytes() for file in files)).hexdigest()


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__, "source")
    parser.add_argument("--model", required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--background", type=float, default=BACKGROUND, help="cores that other programs may keep busy")
    parser.add_argument("--no-record", action="store_true", help="only print")
    asked = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        texts = []
        for path in (asked.source, asked.target):
            texts.append(folder / path.name)
            with path.open(encoding="utf-8") as file, texts[-1].open("w", encoding="utf-8") as text:
                text.writelines(line for line, _ in zip(file, range(asked.lines), strict=False))
        translate = ["translate", "--no-split-sentences", "--model", asked.model, str(texts[0])]
        prepare = ["prepare", "--source", str(texts[0]), "--target", str(texts[1])]
        jobs = str(asked.jobs)
        ways: dict[str, tuple[list[str], int | None]] = {
            "translate, 1 process of 1 thread": ([*translate, "--jobs", "1"], 1),
            "translate, 1 process of all threads": ([*translate, "--jobs", "1"], None),
            f"translate, {jobs} processes": ([*translate, "--jobs", jobs], None),
            "prepare, 1 process": ([*prepare, "--jobs", "1"], None),
            f"prepare, {jobs} processes": ([*prepare, "--jobs", jobs], None),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        written: dict[str, set[str]] = {}
        loads: list[dict[str, Any]] = []
        for number in range(asked.rounds):
            for way in list(ways)[:: -1 if number % 2 else 1]:
                command, threads = ways[way]
                outputs = folder / f"out-{number}-{list(ways).index(way)}"

                run = undisturbed(partial(attempt, command, outputs, threads), asked.background)
                seconds[way].append(run.found[0])
                written.setdefault(command[0], set()).add(run.found[1])
                loads.append({"way": way, **run.load()})
    for name, digests in written.items():
        if len(digests) > 1:
            raise SystemExit(f"{name}: the outputs differ")
    found = {
        way: {"seconds": times, "lines_per_second": asked.lines / statistics.median(times)} for way, times in seconds.items()
    }
    for way, values in found.items():
        print(f"{way:40} {values['lines_per_second']:10,.1f} lines/s")
    if not asked.no_record:
        write_speed("jobs", machine(), lines=asked.lines, model=asked.model, found=found, loads=loads)


if __name__ == "__main__":
    main()
