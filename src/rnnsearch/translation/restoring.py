"""The restoration of protected spans, capitals and the final mark in the output of a model.

A model sees symbols instead of protected spans (`rnnsearch.text.protected`), and lower case instead of words in capitals
(`rnnsearch.text.capitals`). `Seen` holds a sentence as the model sees it, and restores all this in its translation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.text.capitals import Cost, without_capitals
from rnnsearch.text.marks import directed, final_marks, without_strays
from rnnsearch.text.normalization import plain
from rnnsearch.text.protected import ALL_SYMBOLS, as_symbols, span_of
from rnnsearch.text.vocabulary import UNK_SYMBOL
from rnnsearch.translation.translation import PlacedTerm

_FINAL = frozenset(".!?…")


class Written(NamedTuple):
    """A word of a translation, and its row of the alignment; None if the word was added here."""

    word: str
    row: int | None
    source: int
    """The number of the source word that the word is aligned to."""


@dataclass(frozen=True)
class Seen:
    """A sentence in the form that a model sees."""

    words: list[str]
    """The words in their original form."""
    seen: list[str]
    """The form of each word that the model sees."""
    places: dict[str, int]
    """The number of the word that each symbol stands for."""
    capitals: list[bool]
    """For each word, whether its capitals were removed."""
    language: str
    further: Mapping[str, str] = field(default_factory=dict)
    """Words that only their line reveals to be spans; see `rnnsearch.text.protected.further_words`."""

    @classmethod
    def of(cls, words: list[str], language: str, cost: Cost, further: Mapping[str, str] = MappingProxyType({})) -> Seen:
        """Return these source words in the form that a model with this vocabulary sees."""
        seen, places = as_symbols(words, language, further)
        ordinary = [word if seen[place] == word else "" for place, word in enumerate(words)]
        usual, capitals = without_capitals(ordinary, cost)
        shown = [one or symbol for one, symbol in zip(usual, seen, strict=True)]
        return cls(words, shown, places, capitals, language, further)

    @property
    def kept(self) -> set[str]:
        """The spans that are kept verbatim."""
        spans = [span_of(self.words[place], self.language, self.further) for place in self.places.values()]
        return {span.text for span in spans if span and span.quantity is None}

    def faults(self, tokens: Sequence[str]) -> int:
        """Return the number of symbols that are missing in a translation, repeated, or not in the source."""
        counts = [tokens.count(symbol) for symbol in self.places]
        made_up = sum(token in ALL_SYMBOLS and token not in self.places for token in tokens)
        strays = sum(token not in ALL_SYMBOLS and self._without_strays(token) != token for token in tokens)
        return sum(abs(count - 1) for count in counts) + made_up + strays

    def restored(
        self,
        tokens: Sequence[str],
        read_from: Sequence[int],
        language: str,
        prefix: int = 0,
        given: Collection[int] = (),
    ) -> list[Written]:
        """Return the words of the translation in `language`, with each span exactly once and no symbol without a source.

        A span that the model omitted is inserted after the first `prefix` words, which the caller has given, as the words
        in the rows `given`. `tokens` are the words of the model's output, and `read_from` holds for each the number of the
        source word that it is aligned to; the number of source words stands for the end symbol.
        """
        written = [
            Written(token, row, self.places.get(token, source))
            for row, (token, source) in enumerate(zip(tokens, read_from, strict=True))
            if token not in ALL_SYMBOLS or (token in self.places and token not in tokens[:row])
        ]
        written = [
            one
            if one.word in ALL_SYMBOLS or (one.row is not None and one.row < prefix) or one.row in given
            else one._replace(word=self._without_strays(one.word))
            for one in written
        ]
        written = [one for one in written if one.word]
        quotes = directed([one.word for one in written])
        written = [one._replace(word=word) for one, word in zip(written, quotes, strict=True)]
        for symbol, place in self.places.items():
            if symbol not in tokens:
                written.insert(max(prefix, self._position(written, place)), Written(symbol, None, place))
        written = self._with_ending(written)
        return [one._replace(word=self._word(one, language)) for one in written]

    @cached_property
    def _letters(self) -> frozenset[str]:
        """The characters of the source, as they are written and in their plain form."""
        text = "".join(self.words)
        return frozenset(text) | frozenset(plain(text))

    def _without_strays(self, word: str) -> str:
        return word if word == UNK_SYMBOL else without_strays(word, self._letters)

    def _position(self, written: Sequence[Written], place: int) -> int:
        """Return the position of a span that the model omitted: after the translation of the preceding word, or first."""
        if place == len(self.words) - 1:
            return len(written)
        for before in range(place - 1, -1, -1):
            positions = [position for position, one in enumerate(written) if one.source == before]
            if positions:
                return positions[-1] + 1
        return 0

    def _with_ending(self, written: list[Written]) -> list[Written]:
        """Return the translation with the source's final full stop, question mark or exclamation mark, or without any."""
        if len(written) < 2 or not self.words:
            return written
        marks = final_marks(self.words)
        if len(marks) > 1:
            while len(written) > 1 and not plain(written[-1].word).strip("?!.") and written[-1].word not in self.places:
                written = written[:-1]
            return [*written, *(Written(mark, None, len(self.words) - 1) for mark in marks)]
        end, last = plain(self.words[-1]), written[-1]
        if last.word == "." and end not in _FINAL:
            return written[:-1] if end not in (":", ";", ",") else [*written[:-1], last._replace(word=end)]
        if last.word == "." and end in ("?", "!"):
            return [*written[:-1], last._replace(word=end)]
        if end in (".", "?", "!") and len(self.words) > 1 and (last.word[-1].isalnum() or last.word in self.places):
            return [*written, Written(end, None, len(self.words) - 1)]
        return written

    def _word(self, written: Written, language: str) -> str:
        """Return a word in the form for readers."""
        if written.word in self.places:
            span = span_of(self.words[self.places[written.word]], self.language, self.further)
            assert span is not None
            return span.written(language)
        emphasised = written.source < len(self.capitals) and self.capitals[written.source]
        return written.word.upper() if emphasised or (self.capitals and all(self.capitals)) else written.word


def rows_of(written: Sequence[Written], alignment: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return α of these words, (words, source words + 1); an added word attends only to its own source word."""
    rows = np.zeros((len(written), alignment.shape[1]), np.float32)
    for place, one in enumerate(written):
        if one.row is None:
            rows[place, one.source] = 1
        else:
            rows[place] = alignment[one.row]
    return rows


def moved_terms(terms: Sequence[PlacedTerm], written: Sequence[Written]) -> list[PlacedTerm]:
    """Return the terms with the new positions of their words."""
    places = {one.row: place for place, one in enumerate(written) if one.row is not None}
    return [
        replace(term, target_start=places[term.target_start], target_stop=places[term.target_stop - 1] + 1)
        for term in terms
        if term.target_start in places and term.target_stop - 1 in places
    ]
