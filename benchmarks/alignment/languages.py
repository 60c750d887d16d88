"""Word alignment of nine languages with English.

The sentences `test` and `dev` of a language in `DATA/align` are aligned together with those of its `train`; the aligner is
kept in RUNS. The hand-made links of `dev` are scored, where there are any; `link_weights.py` learns from them. Those of
`test` are elsewhere; what is drawn for these sentences goes to `results/blind/align/LL/rnnsearch.links`, with the language
as the source. For each set the record tells, besides, what is seen without hand-made links: for how many links a word both
directions agree, how many are expected, and how many are drawn. A language that is not asked for keeps its record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.alignment.aligners import OURS, learned
from benchmarks.alignment.gold import LANGUAGES, Aligned, language_sets, language_text
from benchmarks.lib.command import Parser
from benchmarks.lib.record import RESULTS, machine, read, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.alignment import LineLinks
from rnnsearch.data.word_alignments import to_pharaoh


def main() -> None:
    """Align, score, record."""
    arguments = Parser(__doc__, "data", "output", languages=LANGUAGES).parse_args()

    on, folder = machine(), arguments.output / "aligners"
    folder.mkdir(parents=True, exist_ok=True)
    record = read("alignment/languages").get("languages", {})
    for language in arguments.languages:
        source = arguments.data / "align" / language
        text, sets = language_text(source, folder), language_sets(source)
        aligner = learned(text, folder / f"{language}.aligner")
        record[language] = {"machine": on, "sets": {}}
        for name, pairs in sets.items():
            lines = list(aligner.align(pairs.pairs()))
            record[language]["sets"][name] = described(lines, pairs, name == "dev")
            if name == "test":
                path = RESULTS / "blind" / "align" / language / f"{OURS}.links"
                write_lines(path, (to_pharaoh(line.links()) for line in lines))
    write_result("alignment/languages", languages={name: record[name] for name in LANGUAGES if name in record})


def described(lines: Sequence[LineLinks], pairs: Aligned, known: bool) -> dict[str, Any]:
    """What is seen of the links of these lines without hand-made links, and their score, if there are any of these."""
    links = [line.links() for line in lines]
    agreed = sum(len(line.links("intersection")) for line in lines)
    expected = sum(float(line.probability.sum()) for line in lines)
    words = sum(map(len, pairs.sources + pairs.targets)) / 2  # on average of both sides
    numbers = {"agreed": agreed, "expected": expected, "drawn": sum(map(len, links))}
    found: dict[str, Any] = {"links per word": {name: number / words for name, number in numbers.items()}}
    return found | ({"score": pairs.score(links)} if known else {})
