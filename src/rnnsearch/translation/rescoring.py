"""Rescoring: the model's score becomes a feature of another system's n-best lists (Cho et al. 2014a).

The format is that of Moses, `line ||| translation ||| features ||| total`, and all translations of a sentence stand
together. Lists that `rnnsearch translate --n-best` wrote, which have no features, are read too.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from rnnsearch.data.lines import read_lines
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import best_first
from rnnsearch.text.tokenize import split_at_spaces
from rnnsearch.translation.translator import Translator

GROUP = 20
"""The number of sentences whose translations are scored together."""


@dataclass(frozen=True)
class Entry:
    """A line of an n-best list."""

    line: int
    """The number of the source line, counted from 0."""
    text: str
    features: str
    total: float

    def __str__(self) -> str:
        return f"{self.line} ||| {self.text} ||| {self.features} ||| {self.total:.6g}"


def read_n_best(path: str | os.PathLike[str]) -> Iterator[Entry]:
    """Yield the entries of a file, in order. Raises RnnsearchError, with file and line, for a line of another form."""
    before = 0
    for number, line in enumerate(read_lines(Path(path)), 1):
        fields = [field.strip() for field in line.split("|||")]
        if len(fields) == 3:
            fields.insert(2, "")
        try:
            entry = Entry(int(fields[0]), fields[1], fields[2], float(fields[3]))
        except (ValueError, IndexError):
            raise RnnsearchError(
                f"{os.fspath(path)}:{number}: {line[:60]!r} is not `line ||| translation ||| features ||| total`"
            ) from None
        if entry.line < before:
            raise RnnsearchError(
                f"{os.fspath(path)}:{number}: source line {entry.line} after {before}; a sentence's translations stand "
                "together"
            )
        before = entry.line
        yield entry


NBest = tuple[int, str, list[tuple[int, str, str, float]]]
"""A sentence to rescore: the number of its first entry, from 0; its source; and its entries, as tuples."""


def n_best_lists(sources: Sequence[str], entries: Iterable[Entry]) -> Iterator[NBest]:
    """Yield the entries of each sentence with its source. Raises RnnsearchError for an entry without a source line."""
    number = 0
    for line, group in itertools.groupby(entries, key=lambda entry: entry.line):
        if line >= len(sources):
            raise RnnsearchError(f"the n-best list has source line {line}, but there are {len(sources)} source lines")
        n_best = [astuple(entry) for entry in group]
        yield number, sources[line], n_best
        number += len(n_best)


@dataclass(frozen=True)
class Rescorer:
    """Adds log p(translation | source) to each entry as one more feature, and `weight` times it to the total.

    The entries are sorted by their totals. With a weight of 0, totals and order do not change.
    """

    translator: Translator
    name: str = "RNNsearch0"
    """The name of the feature."""
    weight: float = 0.0
    reverse: bool = False
    """Whether the model translates in the other direction, so that the feature is log p(source | translation), as in a noisy
    channel model (Yee et al. 2019)."""
    tokenized: bool = False
    """Whether spaces separate the words of sources and translations."""

    def __call__(self, lists: Sequence[NBest]) -> Iterator[list[Entry]]:
        """Return the translations of each sentence, the best first."""
        for start in range(0, len(lists), GROUP):
            yield from self._rescored(lists[start : start + GROUP])

    def _rescored(self, lists: Sequence[NBest]) -> Iterator[list[Entry]]:
        sources = [source for _, source, n_best in lists for _ in n_best]
        translations = [text for _, _, n_best in lists for _, text, _, _ in n_best]
        read, written = (translations, sources) if self.reverse else (sources, translations)
        scores = iter(
            self.translator.score_words(
                [split_at_spaces(line) if self.tokenized else self.translator.source_words(line) for line in read],
                [split_at_spaces(line) if self.tokenized else self.translator.target_words(line) for line in written],
                with_alignment=False,
                first_line=lists[0][0] + 1,
            )
        )
        for _, _, n_best in lists:
            entries = [self._scored(Entry(*entry), next(scores).score) for entry in n_best]
            yield best_first(entries, lambda entry: entry.total) if self.weight else entries

    def _scored(self, entry: Entry, score: float) -> Entry:
        features = f"{entry.features} {self.name}= {score:.4f}".strip()
        return replace(entry, features=features, total=entry.total + self.weight * score)
