"""Lexical translation tables, counted from the links of a text, in the formats of other programs.

A line of a table is `translation word probability`, with p(translation | word), the relative frequency of the links. A word
without a link counts as linked to `NULL`. The ending of a file's name determines the kind of table, and `.gz` compression:

    .s2t, .f2e   p(target | source), as extract_lex (for Marian's `--shortlist`), and as Moses and bicleaner
    .t2s, .e2f   p(source | target)
    .vmap        the target words of each source word, for the vocabulary map of CTranslate2
"""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError

NULL = "NULL"
ENDINGS = (".s2t", ".t2s", ".f2e", ".e2f", ".vmap")
_TRANSLATIONS = 50
"""The number of translations of each word in a vocabulary map, and of the frequent words that are always in it."""

_Counts: TypeAlias = dict[str, Counter[str]]


def kind_of_table(path: Path) -> str:
    """Return the ending of a file's name that determines the kind of table. Raises RnnsearchError for any other ending."""
    ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix
    if ending not in ENDINGS:
        raise RnnsearchError(
            f"{path}: the ending says what a lexicon holds; name it with {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, "
            "and .gz behind it to compress it"
        )
    return ending


class Tables:
    """Counts of the links between the words of a text, in both directions."""

    def __init__(self) -> None:
        self._of_source: _Counts = {}
        self._of_target: _Counts = {}

    def add(self, source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]]) -> None:
        """Count the links of a sentence pair, and its words without links as linked to NULL."""
        # The linked words, and the words of either side without a link, which are linked to NULL.
        links = list(links)
        pairs = [(source[i], target[j]) for i, j in links]
        for words, side in ((source, 0), (target, 1)):
            linked = {link[side] for link in links}
            alone = [word for position, word in enumerate(words) if position not in linked]
            pairs += [(word, NULL) if side == 0 else (NULL, word) for word in alone]
        for one, other in pairs:
            self._of_source.setdefault(one, Counter())[other] += 1
            self._of_target.setdefault(other, Counter())[one] += 1

    def write(self, path: Path) -> None:
        """Write a table of the kind that the name of the file determines; it is written whole or not at all."""
        kind = kind_of_table(path)
        if kind == ".vmap":
            lines = self._vocabulary_map()
        else:
            # extract_lex computes in single precision, Moses in double precision.
            counts = self._of_source if kind in (".s2t", ".f2e") else self._of_target
            lines = _lines(counts, np.float32 if kind in (".s2t", ".t2s") else np.float64)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            # Without a time and a file name, equal tables have equal bytes.
            out = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else file
            with io.TextIOWrapper(out, "utf-8", newline="\n", write_through=True) as text:
                text.writelines(lines)

    def _vocabulary_map(self) -> Iterator[str]:
        """Yield `word TAB translations` for each source word; the empty word has the most frequent target words."""
        words = Counter({word: counts.total() for word, counts in self._of_target.items() if word != NULL})
        yield f"\t{' '.join(_most_frequent(words))}\n"
        for word, counts in sorted(self._of_source.items()):
            translations = _most_frequent(Counter({other: count for other, count in counts.items() if other != NULL}))
            if word != NULL and translations:
                yield f"{word}\t{' '.join(translations)}\n"


def _lines(of_word: Mapping[str, Counter[str]], precision: type[np.floating]) -> Iterator[str]:
    """Yield the lines of a table, sorted by word and translation."""
    for word, counts in sorted(of_word.items()):
        total = precision(counts.total())
        for other, count in sorted(counts.items()):
            yield f"{other} {word} {precision(count) / total:.7f}\n"


def _most_frequent(counts: Counter[str]) -> list[str]:
    """Return the most frequent words; words of equal frequency are in alphabetical order."""
    return sorted(sorted(counts), key=lambda word: -counts[word])[:_TRANSLATIONS]
