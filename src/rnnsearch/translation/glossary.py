"""Glossaries, which map source terms to target terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from rnnsearch.data.lines import read_lines
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.normalization import plain

MOST_MATCHES = 20
"""The largest number of terms of one segment that are enforced; the model translates later ones freely."""
MOST_UNITS, MOST_UNITS_EACH = 20, 2
"""The largest number of words or subwords that the target terms of a segment may have: a constant, and an amount for each
word or subword of the segment. The search takes a step for each of them, and more terms make each step slower."""
MOST_CHARACTERS = 200
"""The largest number of characters of a source or target term."""


Agreement = Literal["", "m", "f", "p"]
"""How a determiner agrees with a word: masculine, feminine, or plural; empty if that is not known."""


class Match(NamedTuple):
    """A source term in a sentence."""

    start: int
    """The position of its first word."""
    stop: int
    target: list[str]
    """The words of the target term."""
    agreement: Agreement | None = None
    """For a rare word of the model's list (`rnnsearch.translation.rare_words`), how a determiner agrees with it."""


class Glossary:
    """A glossary with tokenised source terms and translations."""

    def __init__(self, entries: Mapping[tuple[str, ...], list[str]]) -> None:
        self.entries = dict(entries)
        self._plain: dict[tuple[str, ...], list[str]] = {}
        self._folded: dict[tuple[str, ...], list[str]] = {}
        for source, target in entries.items():
            self._plain.setdefault(_plain(source), target)
            self._folded.setdefault(_folded(source), target)
        self._lengths = sorted(set(map(len, entries)), reverse=True)

    @classmethod
    def tokenized(
        cls, terms: Mapping[str, str], source_words: Callable[[str], list[str]], target_words: Callable[[str], list[str]]
    ) -> Glossary:
        """Return the glossary of these source terms and their translations. Raises RnnsearchError for an unusable term."""
        if not isinstance(terms, Mapping):
            raise RnnsearchError(f"terms = {shown(terms)}; give a dictionary of source terms and their translations")
        entries: dict[tuple[str, ...], list[str]] = {}
        for source, target in terms.items():
            _check(source, target)
            words, translation = tuple(source_words(source)), target_words(target)
            if not (words and translation):
                raise RnnsearchError(f"the term {source!r}, translated by {target!r}: one of the two has no words")
            if entries.setdefault(words, translation) != translation:
                raise RnnsearchError(f"the term {source!r} has two translations, {target!r} being one; give one")
        return cls(entries)

    def __or__(self, other: Glossary) -> Glossary:
        """Merge two glossaries; `other` has precedence for terms that are in both."""
        if not (self.entries and other.entries):
            return other if other.entries else self
        return Glossary(other.entries | {words: self.entries[words] for words in self.entries.keys() - other.entries.keys()})

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for source in self._folded for word in source if any(map(str.isalpha, word)))

    def has_word_of(self, text: str) -> bool:
        """Return whether a source term has one of the words of this text."""
        return bool(self.entries) and not self._words.isdisjoint(_folded(text.split()))

    def matches(self, words: Sequence[str]) -> list[Match]:
        """Return the source terms in these words, in order, without overlaps; longer ones are preferred, then earlier ones.

        Terms are compared exactly first, then in plain form, without regard to variants of apostrophes and the like
        (`rnnsearch.text.normalization`), and finally without regard to case.
        """
        matches: list[Match] = []
        plains, folded = (_plain(words), _folded(words)) if self.entries else ((), ())
        is_free = [True] * len(words)
        for length in self._lengths:
            for start in range(len(words) - length + 1):
                stop = start + length
                if all(is_free[start:stop]):
                    here = tuple(words[start:stop])
                    target = self.entries.get(here) or self._plain.get(plains[start:stop])
                    target = target or self._folded.get(folded[start:stop])
                    if target:
                        matches.append(Match(start, stop, target))
                        is_free[start:stop] = [False] * length
        return sorted(matches)[:MOST_MATCHES]


def read_terms(path: Path) -> dict[str, str]:
    """Read the terms of a file: a source term, a tab and its translation on each line. Blank lines are ignored."""
    terms: dict[str, str] = {}
    first_line: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise RnnsearchError(f"{path}:{number}: {shown(line)}; give a source term, a tab, and its translation")
        source, target = columns
        try:
            _check(source, target)
        except RnnsearchError as error:
            raise RnnsearchError(f"{path}:{number}: {error}") from None
        if terms.setdefault(source, target) != target:
            before = first_line[source]
            raise RnnsearchError(f"{path}:{number}: {source!r} has another translation on line {before}; give one")
        first_line.setdefault(source, number)
    return terms


def _check(source: object, target: object) -> None:
    for side in (source, target):
        if not isinstance(side, str):
            raise RnnsearchError(f"terms: {shown(side)} is no string; give source terms and their translations")
        if len(side) > MOST_CHARACTERS:
            raise RnnsearchError(f"the term {shown(side)} has {len(side):,} characters, and the limit is {MOST_CHARACTERS}")


def _folded(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(plain(word).casefold() for word in words)


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(plain, words))


TermsLike: TypeAlias = Mapping[str, str] | Glossary | None
"""Source terms and their translations, as strings, or tokenised by `Translator.glossary`."""
NO_TERMS = Glossary({})
