"""Rescoring: the model's score becomes a feature of another system's n-best lists (Cho et al. 2014a).

The format is that of Moses, `line ||| translation ||| features ||| total`, and all translations of a sentence stand
together. Lists that `rnnsearch translate --n-best` wrote, which have no features, are read too.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rnnsearch.data.read import read_lines
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import best_first
from rnnsearch.text.tokenize import split_at_spaces
from rnnsearch.translation.translator import Translator

GROUP = 20
"""Sentences whose translations are scored together."""


@dataclass(frozen=True)
class Entry:
    """A line of an n-best list."""

    line: int
    """The source line, from 0."""
    text: str
    features: str
    total: float

    def __str__(self) -> str:
        return f"{self.line} ||| {self.text} ||| {self.features} ||| {self.total:.6g}"


def read_n_best(path: str | os.PathLike[str]) -> Iterator[Entry]:
    """The entries of a file, in order; RnnsearchError, with file and line, for what is none."""
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


def rescore(
    translator: Translator,
    sources: Sequence[str],
    entries: Iterator[Entry],
    *,
    name: str = "RNNsearch0",
    weight: float = 0.0,
    reverse: bool = False,
    tokenized: bool = False,
) -> Iterator[list[Entry]]:
    """For each sentence its translations, the best first, each with log p(translation | source) as one more feature.

    `weight` times it is added to the total, and the totals decide the order; with 0, totals and order stay as they are. With
    `reverse` the model is one of the other direction, and the feature log p(source | translation): the noisy channel (Yee et
    al. 2019). With `tokenized`, words of source and translations are what spaces separate.
    """
    done = 0
    for _, group in itertools.groupby(entries, key=lambda entry: entry.line // GROUP):
        chunk = list(group)
        missing = next((entry.line for entry in chunk if entry.line >= len(sources)), None)
        if missing is not None:
            raise RnnsearchError(f"the n-best list has source line {missing}, but there are {len(sources)} source lines")
        read, written = [sources[entry.line] for entry in chunk], [entry.text for entry in chunk]
        if reverse:
            read, written = written, read
        scores = translator.score_words(
            [split_at_spaces(line) if tokenized else translator.source_words(line) for line in read],
            [split_at_spaces(line) if tokenized else translator.target_words(line) for line in written],
            with_alignment=False,
            first_line=done + 1,
        )
        done += len(chunk)
        scored = [
            replace(
                entry,
                features=f"{entry.features} {name}= {pair.score:.4f}".strip(),
                total=entry.total + weight * pair.score,
            )
            for entry, pair in zip(chunk, scores, strict=True)
        ]
        for _, sentence in itertools.groupby(scored, key=lambda entry: entry.line):
            n_best = list(sentence)
            yield best_first(n_best, lambda entry: entry.total) if weight else n_best
