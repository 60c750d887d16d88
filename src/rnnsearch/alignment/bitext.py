"""Parallel text as arrays: the words and the position pairs of every sentence pair, in blocks of bounded size.

A position pair (a *cell* in the names of variables) is a source position beside a target position of the same sentence pair;
Tx source and Ty target words have Tx·Ty of them. The word-type pair of a position pair (its *type*) consists of the two
words themselves; it has the translation probabilities. An array holds the number of the word-type pair of every position
pair, so that no word is looked up in training. Only one block is in memory at a time.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.compiled import Text, fill_cells, index_cells
from rnnsearch.alignment.vocabulary import Words
from rnnsearch.data.lines import read_lines
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.tokenize import split_at_spaces

LONGEST = 1024
"""The largest number of words per side in an alignment. Longer pairs are cut into pieces, equally many on both sides."""
_SEPARATOR = re.compile(r"(?:^|[ \t])\|\|\|(?=[ \t]|$)")
SIZE = 1 << 21
"""The number of position pairs and words after which a block is complete."""

Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The words of both sides of a line."""
PairLike: TypeAlias = tuple[str | Sequence[str], str | Sequence[str]]
"""A pair as callers give it: two lines whose words are separated by spaces, or the words themselves."""


@dataclass(frozen=True)
class Block:
    """Sentence pairs in order; very long lines are cut into several pairs."""

    line: NDArray[np.int64]
    """The line of each sentence pair, counted from 0 in the block. Every line has at least one pair."""
    first: NDArray[np.int64]
    """The positions in the line of the first source word and the first target word of each pair: pairs × 2."""
    text: Text
    """The arrays that compiled loops read."""
    type_source: NDArray[np.int32]
    """The source word of each word-type pair of the block, in ascending order."""
    type_target: NDArray[np.int32]
    """The target word of each word-type pair."""

    @property
    def lines(self) -> int:
        """The number of lines."""
        return int(self.line[-1]) + 1

    @property
    def longest(self) -> int:
        """The number of words of the longest side of a pair."""
        return max(int(np.diff(starts).max(initial=0)) for starts in (self.text.source_starts, self.text.target_starts))

    def numbered(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> Block:
        """Return the same block with renumbered words: `source` and `target` map old numbers to new numbers."""
        text = self.text._replace(source_ids=source[self.text.source_ids], target_ids=target[self.text.target_ids])
        return Block(self.line, self.first, text, self.type_source, self.type_target)

    def indexed(self, source: Words, target: Words) -> Block:
        """Return the same block with its word-type pairs, and with their numbers for all position pairs."""
        text = self.text._replace(cells=np.empty(self.text.offsets[-1], np.int32))
        return Block(self.line, self.first, text, *index_cells(text, len(source), len(target)))

    def of_types(self, rows: NDArray[np.int64], type_target: NDArray[np.int32], target_words: int) -> Block:
        """Return what `indexed` returns, from the word-type pairs: `rows` says where those of each source word begin."""
        text = self.text._replace(cells=np.empty(self.text.offsets[-1], np.int32))
        fill_cells(text, rows, type_target, target_words)
        type_source = np.repeat(np.arange(len(rows) - 1, dtype=np.int32), np.diff(rows))
        return Block(self.line, self.first, text, type_source, type_target)

    def save(self, path: Path) -> None:
        """Write the words into a file; the word-type pairs are not kept."""
        text = self.text
        sizes = [np.diff(starts).astype(np.uint16) for starts in (text.source_starts, text.target_starts)]
        np.savez_compressed(
            path,
            begins=np.diff(self.line, prepend=-1) > 0,
            first=self.first,
            source_sizes=sizes[0],
            target_sizes=sizes[1],
            source_ids=text.source_ids,
            target_ids=text.target_ids,
        )

    @classmethod
    def load(cls, path: Path) -> Block:
        """Read what `save` has written, a block without word-type pairs."""
        with np.load(path) as file:
            arrays = dict(file)
        sizes = [arrays[f"{side}_sizes"].astype(np.int64) for side in ("source", "target")]
        source_starts, target_starts, offsets = (np.append(0, np.cumsum(of)) for of in (*sizes, sizes[0] * sizes[1]))
        none = np.empty(0, np.int32)
        text = Text(arrays["source_ids"], source_starts, arrays["target_ids"], target_starts, offsets, none)
        return cls(np.cumsum(arrays["begins"]) - 1, arrays["first"], text, none, none)


def as_words(pair: PairLike) -> Pair:
    """Return the words of both sides of a pair. Raises RnnsearchError unless it is a pair of lines or of lists of words."""
    try:
        source, target = pair
        len(source), len(target)
    except (TypeError, ValueError):
        raise RnnsearchError(f"{shown(pair)} is no pair; give a source and a target, lines or lists of words") from None
    return (
        split_at_spaces(source) if isinstance(source, str) else source,
        split_at_spaces(target) if isinstance(target, str) else target,
    )


def blocks_of(lines: Iterable[Pair], source: Words, target: Words) -> Iterator[Block]:
    """Divide a text into blocks, and add its words to `source` and `target`. Sides may be empty.

    The position pairs of the blocks are not numbered yet; see `Block.indexed`.
    """
    block = _Collected()
    for words in lines:
        block.add(words, source, target)
        if block.size >= SIZE:
            yield block.block()
            block = _Collected()
    if block.lines:
        yield block.block()


def read_joined(path: Path) -> Iterator[tuple[str, str]]:
    """Read the pairs of a file with both sides on each line: `source ||| target` as for fast_align, or with a tab between.

    The first line determines the separator of lines that contain both; if it is `|||`, tabs count as spaces. Raises
    RnnsearchError for a line without two sides.
    """
    by_tabs = None
    for number, line in enumerate(read_lines(path), start=1):
        # The separator of the first line is kept for all lines.
        sides = _SEPARATOR.split(line)
        if by_tabs is None:
            by_tabs = len(sides) == 1
        if "\t" in line and (by_tabs or len(sides) == 1):
            sides = line.split("\t")
        if len(sides) != 2:
            raise RnnsearchError(
                f"{path}:{number}: {len(sides)} parts instead of 2; write `source ||| target`, or the two with a tab between"
            )
        yield sides[0], sides[1]


class _Collected:
    """A block that is not complete yet, to which pairs are added."""

    def __init__(self) -> None:
        self.lines = self.size = 0
        self._line, self._first = array("q"), array("q")
        self._ids = array("i"), array("i")
        self._starts = array("q", [0]), array("q", [0])
        self._offsets = array("q", [0])

    def add(self, words: Pair, source: Words, target: Words) -> None:
        """Add the pair of a line, and its words to `source` and `target`."""
        # A sentence pair for each piece of the line, with the numbers of its words.
        for piece in _pieces(*words):
            self._line.append(self.lines)
            for ids, starts, known, side, part in zip(self._ids, self._starts, (source, target), words, piece, strict=True):
                self._first.append(part.start)
                ids.extend(known.ids(side[part]))
                starts.append(len(ids))
            # Tx · Ty position pairs, whose word-type pairs are numbered when the block is complete.
            sizes = [part.stop - part.start for part in piece]
            self._offsets.append(self._offsets[-1] + sizes[0] * sizes[1])
            self.size += sum(sizes) + sizes[0] * sizes[1]
        self.lines += 1

    def block(self) -> Block:
        """Return the pairs as a block without word-type pairs."""
        source, target = (np.array(ids, np.int32) for ids in self._ids)
        source_starts, target_starts, offsets = (np.array(part, np.int64) for part in (*self._starts, self._offsets))
        none = np.empty(0, np.int32)
        text = Text(source, source_starts, target, target_starts, offsets, none)
        return Block(np.array(self._line, np.int64), np.array(self._first, np.int64).reshape(-1, 2), text, none, none)


def _pieces(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield the ranges of words that are aligned together: the whole line, or several parts of a line that is too long."""
    # As many pieces as the longer side needs; piece k has the k-th of equal parts of both sides.
    pieces = max(1, -(-max(len(source), len(target)) // LONGEST))
    for k in range(pieces):
        source_part, target_part = (
            slice(len(words) * k // pieces, len(words) * (k + 1) // pieces) for words in (source, target)
        )
        yield source_part, target_part
