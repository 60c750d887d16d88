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
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, cost_of, rnnsearch
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from benchmarks.scale.jobs import in_turns
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines

WORD = "bahdanau"
BEAMS = {"beam": [], "greedy": ["--beam", "1"]}


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--model", default="en-ipa")
    parser.add_argument("--count", type=int, default=sized(20_000, 40))
    parser.add_speed(rounds=sized(3, 1))
    asked = parser.parse_args()

    words = sorted({line.partition("\t")[0] for line in read_lines(asked.words)})
    chosen = random.Random(1).sample(words, asked.count)
    keys = [(precision, beam, jobs) for precision in ("fp32", "int8") for beam in BEAMS for jobs in (1, 2)]
    with TemporaryDirectory() as place:
        text = Path(place) / "words"
        write_text(text, "".join(f"{word}\n" for word in chosen))
        translate = ["translate", "--model", asked.model, text]
        ways: dict[str, tuple[Sequence[object], int | None]] = {
            f"{precision} {beam}, {jobs}": (
                [*translate, "--jobs", jobs, *BEAMS[beam], "--set", f"search.precision={precision}"],
                1,
            )
            for precision, beam, jobs in keys
        }
        seconds, loads = in_turns(ways, asked.rounds, asked.background)
    one_word = rnnsearch("pronounce", "--model", asked.model, WORD)
    starts = [undisturbed(lambda: cost_of(one_word)["passed"], asked.background).found for _ in range(asked.rounds)]
    found = [
        {
            "precision": precision,
            "beam": beam,
            "jobs": jobs,
            "seconds": times,
            "words_per_second": round(asked.count / statistics.median(times)),
        }
        for (precision, beam, jobs), times in zip(keys, seconds.values(), strict=True)
    ]
    for one in found:
        print(f"{one['precision']} {one['beam']:6} --jobs {one['jobs']} {one['words_per_second']:8,} words/s")
    print(f"one word, from the start of the program: {statistics.median(starts):.2f} s")
    write_speed(
        "characters/many_words",
        machine(),
        words=asked.count,
        model=asked.model,
        found=found,
        one_word_seconds=starts,
        loads=loads,
    )


if __name__ == "__main__":
    main()
