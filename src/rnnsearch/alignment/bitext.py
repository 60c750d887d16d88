"""Parallel text as arrays: words, and the cells of every sentence pair.

A cell is a source word beside a target word of the same pair; Tx source and Ty target words have Tx·Ty of them. A cell
is of a type, which is the two words themselves: probabilities of translation belong to types. Every cell knows the number
of its type, so that no word is looked up while an aligner learns. This takes 4 bytes a cell, about 4 kB for a pair of 30
words on each side: it is the one thing here that grows with the whole text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.compiled import Text, index_cells
from rnnsearch.data.read import read_lines
from rnnsearch.errors import RnnsearchError

LONGEST = 1024
"""Words of a side of a pair that are aligned together. Longer pairs are cut into as many pieces on both sides."""

_SAME = str.maketrans({"’": "'", "‘": "'", "`": "'", "«": '"', "»": '"', "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"})


def normalize(word: str) -> str:
    """The form under which a word is counted: lower case, and one apostrophe, one quotation mark and one dash of many."""
    return unicodedata.normalize("NFKC", word).translate(_SAME).lower().replace("œ", "oe")


@dataclass(frozen=True)
class Side:
    """One side of all pairs."""

    words: list[str]
    """The different words, in the order in which they first occur."""
    ids: NDArray[np.int32]
    """All words of the text, by number, one pair after the other."""
    starts: NDArray[np.int64]
    """Where each pair begins in `ids`, and where the last one ends."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words in each pair."""
        return np.diff(self.starts)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """How often each word occurs."""
        return np.bincount(self.ids, minlength=len(self.words)).astype(np.float64)


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs, those of very long lines in pieces, in order."""

    lines: int
    source: Side
    target: Side
    line: NDArray[np.int64]
    """The line of each pair, from 0."""
    first: NDArray[np.int64]
    """The positions in their line of a pair's first words, source and target: pairs × 2."""
    text: Text
    """The arrays that compiled loops read."""
    type_source: NDArray[np.int32]
    """The source word of each type."""
    type_target: NDArray[np.int32]
    """The target word of each type."""

    @classmethod
    def of(cls, lines: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Bitext:
        """From the words of each line; a side may be empty."""
        sides = _Words(), _Words()
        line, first, number = array("q"), array("q"), -1
        for number, words in enumerate(lines):
            for piece in _pieces(*words):
                line.append(number)
                for side, all_words, part in zip(sides, words, piece, strict=True):
                    first.append(part.start)
                    side.add(all_words[part])
        source, target = (side.side() for side in sides)
        offsets = np.append(0, np.cumsum(source.lengths * target.lengths))
        text = Text(source.ids, source.starts, target.ids, target.starts, offsets, np.empty(offsets[-1], np.int32))
        type_source, type_target = index_cells(text, len(source.words), len(target.words))
        return cls(
            lines=number + 1,
            source=source,
            target=target,
            line=np.array(line, np.int64),
            first=np.array(first, np.int64).reshape(-1, 2),
            text=text,
            type_source=type_source,
            type_target=type_target,
        )


def read_joined(path: Path) -> Iterator[tuple[str, str]]:
    """The pairs of a file with both sides on each line: `source ||| target` as for fast_align, or with a tab between."""
    for number, line in enumerate(read_lines(path), start=1):
        sides = line.split("\t") if "\t" in line else re.split(r"(?:^| )\|\|\|(?= |$)", line)
        if len(sides) != 2:
            raise RnnsearchError(
                f"{path}:{number}: {len(sides)} parts instead of 2; write `source ||| target`, or the two with a tab between"
            )
        yield sides[0], sides[1]


class _Words:
    """Collects the words of one side."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known: dict[str, int] = {}  # by the word as it is written, so that each is normalised once
        self._ids = array("i")
        self._starts = array("q", [0])

    def add(self, words: Sequence[str]) -> None:
        for word in words:
            number = self._known.get(word)
            if number is None:
                number = self._known[word] = self._numbers.setdefault(normalize(word), len(self._numbers))
            self._ids.append(number)
        self._starts.append(len(self._ids))

    def side(self) -> Side:
        return Side(list(self._numbers), np.array(self._ids, np.int32), np.array(self._starts, np.int64))


def _pieces(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """The parts of a line that are aligned together: all of it, or, if it is too long, as many parts of each side."""
    pieces = max(1, -(-max(len(source), len(target)) // LONGEST))
    for k in range(pieces):
        source_part, target_part = (
            slice(len(words) * k // pieces, len(words) * (k + 1) // pieces) for words in (source, target)
        )
        yield source_part, target_part
