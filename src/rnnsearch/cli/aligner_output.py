"""What `rnnsearch align` writes of an aligner's links: lines in its formats, and lexical translation tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from rnnsearch.cli.options import check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.alignment import LineLinks
    from rnnsearch.data.word_alignments import Links

Format: TypeAlias = Literal["pharaoh", "json", "tsv", "giza", "giza-reverse"]


@dataclass(frozen=True)
class AlignerOutput:
    """The form of the output."""

    format: Format = "pharaoh"
    lexicons: Sequence[Path] = ()
    """The files of lexical translation tables."""
    subwords: tuple[Path | None, Path | None] = (None, None)
    """The subwords of both sides, line by line, for links in their positions."""

    @property
    def is_plain(self) -> bool:
        """Whether it consists of links alone, so that the words of the text are not needed."""
        return self.format in ("pharaoh", "json") and not self.lexicons and not any(self.subwords)

    def check(self, texts: Sequence[Path]) -> None:
        """Raise RnnsearchError for what cannot be read or written. `texts` are read again where their words are needed."""
        from rnnsearch.alignment.tables import kind_of_table

        for path in self.lexicons:
            kind_of_table(path)
        if any(self.subwords) and self.format not in ("pharaoh", "tsv"):
            raise RnnsearchError(f"--format {self.format} has links of words, not of subwords: choose `pharaoh` or `tsv`")
        check_inputs(*filter(None, self.subwords), outputs=self.lexicons, again=() if self.is_plain else texts)

    def lines(self, pairs: Iterable[tuple[str, str]], links: Iterable[tuple[LineLinks, Links]]) -> Iterator[str]:
        """Yield what is written of each line, and write the tables at the end. `links` are those of each line of `pairs`."""
        from rnnsearch.alignment.tables import Tables
        from rnnsearch.text.tokenize import split_at_spaces

        tables = Tables()
        nothing: tuple[list[str], list[str]] = ([], [])
        words = repeat(nothing) if self.is_plain else ((split_at_spaces(one), split_at_spaces(two)) for one, two in pairs)
        segmented = [_Subwords(file) for file in self.subwords]
        for number, ((source, target), (line, of_line)) in enumerate(zip(words, links, strict=False)):
            if any(self.subwords):
                from rnnsearch.alignment.segments import spread

                (source, of_source), (target, of_target) = segmented[0].next(source), segmented[1].next(target)
                of_line = spread(of_line, of_source, of_target)
            if self.lexicons:
                tables.add(source, target, of_line)
            yield self._line(number, source, target, line, of_line) + "\n"
        for side in segmented:
            side.check_end()
        for path in self.lexicons:
            tables.write(path)

    def _line(self, number: int, source: list[str], target: list[str], line: LineLinks, links: Links) -> str:
        from rnnsearch.data.word_alignments import to_pharaoh

        match self.format:
            case "json":
                return _json(number, line, links)
            case "tsv":
                return f"{' '.join(source)}\t{' '.join(target)}\t{to_pharaoh(links)}"
            case "giza":
                return _giza(number, source, target, line.one_to_many()[0], line.log_likelihood[0])
            case "giza-reverse":
                reverse = [(j, i) for i, j in line.one_to_many()[1]]
                return _giza(number, target, source, reverse, line.log_likelihood[1])
        return to_pharaoh(links)


class _Subwords:
    """The subwords of a side, read line by line; without a file, words are not segmented."""

    def __init__(self, file: Path | None) -> None:
        from rnnsearch.data.lines import read_lines

        self._file = file
        self._lines = enumerate(() if file is None else read_lines(file), start=1)

    def next(self, words: list[str]) -> tuple[list[str], list[list[int]]]:
        """Return the subwords of the next line, and the positions of those of each word."""
        from rnnsearch.alignment.segments import segments

        if self._file is None:
            return words, [[position] for position in range(len(words))]
        number, line = next(self._lines, (0, ""))
        if not number:
            raise RnnsearchError(f"{self._file}: it has fewer lines than the text; give the subwords of each line")
        try:
            return line.split(), segments(words, line.split())
        except RnnsearchError as error:
            raise RnnsearchError(f"{self._file}:{number}: {error}") from None

    def check_end(self) -> None:
        if next(self._lines, None) is not None:
            raise RnnsearchError(f"{self._file}: it has more lines than the text; give the subwords of each line")


def _json(number: int, line: LineLinks, links: Links) -> str:
    """The links of a line with their probabilities."""
    import json

    known = line.probabilities()
    return json.dumps({"line": number, "links": [[*link, round(known[link], 4)] for link in sorted(links)]})


def _giza(
    number: int, generating: list[str], generated: list[str], links: Iterable[tuple[int, int]], log_likelihood: float
) -> str:
    """A sentence pair as in GIZA's A3.final: both lengths and a score, the generated words, and the links of the others."""
    from math import exp

    positions: list[list[int]] = [[] for _ in generating]
    for i, j in links:
        positions[i].append(j + 1)
    linked = {j for of_word in positions for j in of_word}
    alone = [j for j in range(1, len(generated) + 1) if j not in linked]
    sets = " ".join(
        f"{word} ({{ {''.join(f'{j} ' for j in of_word)}}})"
        for word, of_word in zip(["NULL", *generating], [alone, *positions], strict=True)
    )
    return (
        f"# Sentence pair ({number + 1}) source length {len(generating)} target length {len(generated)} "
        f"alignment score : {exp(log_likelihood):g}\n{' '.join(generated)} \n{sets} "
    )
