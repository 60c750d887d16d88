"""`rnnsearch atools`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from rnnsearch.cli.options import check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rnnsearch.data.word_alignments import Links

_Command: TypeAlias = Literal[
    "convert", "display", "fmeasure", "grow-diag", "grow-diag-final", "grow-diag-final-and", "intersect", "invert", "union"
]
_MOST_CELLS = 10_000_000
_OF_ONE = ("convert", "display", "invert")


def command(
    first: Annotated[Path, typer.Option("--input_1", "-i", metavar="FILE", help="Links, `0-0 1-2 …` on each line.")],
    what: Annotated[_Command, typer.Option("--command", "-c", help="What to do with the links.")],
    second: Annotated[
        Path | None,
        typer.Option("--input_2", "-j", metavar="FILE", help="Other links; with fmeasure, the reference."),
    ] = None,
) -> None:
    """Combine, compare or convert links as fast_align's atools does.

    The options and the output are those of the original. If both files are `-`, standard input has a line of the first and a
    line of the second by turns, and each pair of lines is answered at once.
    """
    if what in _OF_ONE and second is not None:
        raise RnnsearchError(f"{what} takes one file of links: leave out -j")
    if what not in _OF_ONE and second is None:
        raise RnnsearchError(f"{what} takes two files of links: give -j too")
    files = {first, second} - {None}
    check_inputs(*files, printed=True)

    from rnnsearch.data.word_alignments import symmetrize, to_pharaoh

    at_once = Path("-") in files
    correct = drawn = gold = 0
    for links, others in _read(first, second):
        if what == "fmeasure":
            correct, drawn, gold = correct + len(links & others), drawn + len(links), gold + len(others)
            continue
        if what == "display":
            print(_grid(links))
        if what == "invert":
            links = frozenset((target, source) for source, target in links)
        elif what not in _OF_ONE:
            links = symmetrize(links, others, "intersection" if what == "intersect" else what)  # type: ignore[arg-type]
        print(to_pharaoh(links), flush=at_once)
    if what == "fmeasure":
        _print_f_measure(correct, drawn, gold)


def _read(first: Path, second: Path | None) -> Iterator[tuple[Links, Links]]:
    """Yield the links of each line of both files; of one file, with no links beside them."""
    from itertools import zip_longest

    from rnnsearch.data.lines import read_lines
    from rnnsearch.data.word_alignments import parse_pharaoh

    lines = read_lines(first)
    if second is None:
        pairs = ((line, "") for line in lines)
    else:
        pairs = zip_longest(lines, lines if second == first == Path("-") else read_lines(second))  # type: ignore[assignment]
    for number, (line, other) in enumerate(pairs, start=1):
        if line is None or other is None:
            shorter = first if line is None else second
            raise RnnsearchError(
                f"{shorter}: it has {number - 1:,} lines, and the other file has more; give one line per pair"
            )
        both = []
        for path, text in ((first, line), (second, other)):
            try:
                both.append(frozenset(parse_pharaoh(text)))
            except RnnsearchError as error:
                raise RnnsearchError(f"{path}:{number}: {error}") from None
        yield both[0], both[1]


def _grid(links: Links) -> str:
    """Draw links as a matrix of source words × target words, with the last digit of each position around it."""
    sources, targets = (range(max((link[side] for link in links), default=0) + 1) for side in (0, 1))
    if len(sources) * len(targets) > _MOST_CELLS:
        raise RnnsearchError(f"a matrix of {len(sources):,} × {len(targets):,} words is too large to be displayed")
    edge = " " + "".join(str(target % 10) for target in targets)
    rows = [
        f"{source % 10}{''.join('*' if (source, target) in links else '.' for target in targets)}{source % 10}"
        for source in sources
    ]
    return "\n".join([edge, *rows, edge, ""])


def _print_f_measure(correct: int, drawn: int, gold: int) -> None:
    if not drawn or not gold:
        raise RnnsearchError("a file without links has no precision or recall: give links on both sides")
    precision, recall = correct / drawn, correct / gold
    # The original divides by zero if no link is correct, and prints what its processor makes of that.
    f = f"{2 * precision * recall / (precision + recall):g}" if correct else "-nan"
    sys.stdout.write(f"P: {precision:g}\nR: {recall:g}\nF: {f}\n")
