"""How many words per second does `translate` pronounce on one core and on two, and how soon does `pronounce` answer?

WORDS is a file of spellings, one a line, or the first column of a table; so many are drawn from it. They are translated by
the whole command, its start included: in one process of one thread and in two, which take turns, by beam search and
greedily, exactly and, where the processor has such instructions, with int8. Then one word is pronounced, several times. With
whatever number of processes, the pronunciations must be the same to the byte.
"""

from __future__ import annotations

import itertools
import random
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.lib.command import SPEED, Parser, cost_of, rnnsearch
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from benchmarks.lib.texts import write_lines
from benchmarks.lib.turns import same_outputs
from rnnsearch.data.lines import read_lines

WORD = "bahdanau"
BEAMS = {"beam": [], "greedy": ["--beam", "1"]}


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__, *SPEED, model="en-ipa", count=sized(20_000, 40), rounds=sized(3, 1))
    parser.add_argument("--words", type=Path, required=True)
    asked = parser.parse_args()

    words = sorted({line.partition("\t")[0] for line in read_lines(asked.words)})
    chosen = random.Random(1).sample(words, asked.count)
    found, loads = [], []
    with TemporaryDirectory() as place:
        text = Path(place) / "words"
        write_lines(text, chosen)
        for precision, (beam, options) in itertools.product(("fp32", "int8"), BEAMS.items()):
            more = ["--set", f"search.precision={precision}", *options]
            translate = rnnsearch("translate", "--model", asked.model, text, *more, "--jobs")
            ways = {f"{precision} {beam}, {jobs}": ([*translate, jobs], 1) for jobs in (1, 2)}
            runs = same_outputs(ways, asked.rounds, asked.background)
            for jobs, of_way in enumerate(runs.values(), 1):
                seconds = [run.found for run in of_way]
                speed = round(asked.count / statistics.median(seconds))
                named = {"precision": precision, "beam": beam, "jobs": jobs}
                found.append({**named, "seconds": seconds, "words_per_second": speed})
                loads += [{**named, **run.load()} for run in of_way]
    one_word = rnnsearch("pronounce", "--model", asked.model, WORD)
    starts = [undisturbed(lambda: cost_of(one_word)["passed"], asked.background).found for _ in range(asked.rounds)]
    print(f"one word, from the start of the program: {statistics.median(starts):.2f} s")
    kept = {"words": asked.count, "model": asked.model, "found": found}
    write_speed("characters/many_words", machine(), **kept, one_word_seconds=starts, loads=loads)
