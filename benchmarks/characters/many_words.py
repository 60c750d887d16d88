"""How many words per second does `translate` pronounce on one core and on two, and how soon does `pronounce` answer?

    python benchmarks/characters/many_words.py --words WORDS [--count 20000] [--rounds 3] [--model MODEL]

WORDS is a file of spellings, one a line, or the first column of a table; so many are drawn from it. Every round translates
them by the whole command, its start included: in one process of one thread and in two, by beam search and greedily, exactly
and, where the processor has such instructions, with int8; and then pronounces one word. The order is turned around from
round to round. With whatever number of processes, the pronunciations must be the same to the byte.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import BACKGROUND, machine, undisturbed, write_speed
from benchmarks.scale.jobs import attempt
from rnnsearch.data.read import read_lines
from rnnsearch.ops.packed import int8_works

WORD = "bahdanau"
BEAMS = {"beam": [], "greedy": ["--beam", "1"]}


def pronounce(model: str) -> float:
    """The seconds until one word is pronounced, from the start of the program."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "rnnsearch", "pronounce", "--model", model, WORD]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--model", default="en-ipa")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--background", type=float, default=BACKGROUND, help="cores that other programs may keep busy")
    parser.add_argument("--no-record", action="store_true", help="only print")
    asked = parser.parse_args()

    words = sorted({line.partition("\t")[0] for line in read_lines(asked.words)})
    chosen = random.Random(1).sample(words, asked.count)
    precisions = ["fp32", "int8"] if int8_works() else ["fp32"]
    ways = [(precision, beam, jobs) for precision in precisions for beam in BEAMS for jobs in (1, 2)]
    seconds: dict[tuple[str, str, int], list[float]] = {way: [] for way in ways}
    written: dict[tuple[str, str], set[str]] = {}
    starts: list[float] = []
    loads: list[dict[str, Any]] = []
    with TemporaryDirectory() as place:
        text = Path(place) / "words"
        text.write_text("".join(f"{word}\n" for word in chosen), encoding="utf-8")
        for number in range(asked.rounds):
            for way in ways[:: -1 if number % 2 else 1]:
                precision, beam, jobs = way
                command = ["translate", "--model", asked.model, str(text), "--jobs", str(jobs), *BEAMS[beam]]
                command += ["--set", f"search.precision={precision}"]
                outputs = Path(place) / f"out-{number}-{ways.index(way)}"
                run = undisturbed(partial(attempt, command, outputs, 1), asked.background)
                seconds[way].append(run.found[0])
                written.setdefault((precision, beam), set()).add(run.found[1])
                loads.append({"way": way, **run.load()})
            starts.append(undisturbed(partial(pronounce, asked.model), asked.background).found)
    for (precision, beam), digests in written.items():
        if len(digests) > 1:
            raise SystemExit(f"{precision}, {beam}: the pronunciations differ")
    found = [
        {
            "precision": precision,
            "beam": beam,
            "jobs": jobs,
            "seconds": times,
            "words_per_second": round(asked.count / statistics.median(times)),
        }
        for (precision, beam, jobs), times in seconds.items()
    ]
    for one in found:
        print(f"{one['precision']} {one['beam']:6} --jobs {one['jobs']} {one['words_per_second']:8,} words/s")
    print(f"one word, from the start of the program: {statistics.median(starts):.1f} s")
    if not asked.no_record:
        write_speed(
            "many-words", machine(), words=asked.count, model=asked.model, found=found, one_word_seconds=starts, loads=loads
        )


if __name__ == "__main__":
    main()
