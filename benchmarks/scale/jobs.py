"""How much faster are `translate` and `prepare` in two processes than in one, and processes than threads?

    python benchmarks/scale/jobs.py --model MODEL --source train.en --target train.fr [--lines 4000] [--rounds 3] [--jobs 2]

Every round runs, one after the other: `translate` with one process of one thread, with one process of a thread for each
core, and with `--jobs`; and `prepare` with one process and with `--jobs`. The order is turned around from round to round.
Times are those of the whole programs, their start included. Every output must be the same to the byte.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, environment, rnnsearch
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines


def timed(command: Sequence[object], output: Path, threads: int | None = None) -> tuple[float, str]:
    """The seconds that a command of rnnsearch takes, and a digest of what it has written to a new file or folder."""
    began = time.perf_counter()
    subprocess.run(rnnsearch(*command, "--output", output), env=environment(threads), check=True)
    seconds = time.perf_counter() - began
    files = [output] if output.is_file() else sorted(output.iterdir())
    digest = blake2b(b"".join(file.read_bytes() for file in files)).hexdigest()
    shutil.rmtree(output) if output.is_dir() else output.unlink()
    return seconds, digest


def in_turns(
    ways: Mapping[str, tuple[Sequence[object], int | None]], rounds: int, background: float
) -> tuple[dict[str, list[float]], list[dict[str, Any]]]:
    """The seconds of commands with so many threads, in rounds that alternate their order, and the loads beside them.

    Ways whose names begin with the same word have to write the same bytes.
    """
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    digests: dict[str, set[str]] = {}
    loads: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            for way in list(ways)[:: -1 if number % 2 else 1]:
                command, threads = ways[way]
                run = undisturbed(partial(timed, command, Path(folder) / "output", threads), background)
                seconds[way].append(run.found[0])
                digests.setdefault(way.split(",")[0], set()).add(run.found[1])
                loads.append({"way": way, **run.load()})
    for name, found in digests.items():
        if len(found) > 1:
            raise SystemExit(f"{name}: the outputs differ")
    return seconds, loads


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__, "model", "source")
    parser.add_argument("--target", type=Path, required=True, help="its translation")
    parser.add_argument("--lines", type=int, default=sized(4000, 40))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_speed(rounds=sized(3, 1))
    asked = parser.parse_args()
    with TemporaryDirectory() as place:
        texts = [Path(place) / path.name for path in (asked.source, asked.target)]
        for path, text in zip((asked.source, asked.target), texts, strict=True):
            write_text(text, "".join(f"{line}\n" for line in islice(read_lines(path), asked.lines)))
        translate = ["translate", "--no-split-sentences", "--model", asked.model, texts[0], "--jobs"]
        prepare = ["prepare", "--source", texts[0], "--target", texts[1], "--jobs"]
        ways: dict[str, tuple[Sequence[object], int | None]] = {
            "translate, 1 process of 1 thread": ([*translate, 1], 1),
            "translate, 1 process of all threads": ([*translate, 1], None),
            f"translate, {asked.jobs} processes": ([*translate, asked.jobs], None),
            "prepare, 1 process": ([*prepare, 1], None),
            f"prepare, {asked.jobs} processes": ([*prepare, asked.jobs], None),
        }
        seconds, loads = in_turns(ways, asked.rounds, asked.background)
    found = {
        way: {"seconds": times, "lines_per_second": asked.lines / statistics.median(times)} for way, times in seconds.items()
    }
    for way, values in found.items():
        print(f"{way:40} {values['lines_per_second']:10,.1f} lines/s")
    write_speed("scale/jobs", machine(), lines=asked.lines, model=str(asked.model), found=found, loads=loads)


if __name__ == "__main__":
    main()
