"""From what a model wrote to what a reader wants: spans in the place of their symbols, capitals, and the final mark.

A model sees symbols for spans that are kept (`rnnsearch.text.protected`), and small letters for words in capitals
(`rnnsearch.text.capitals`). `Seen` is what it sees of a sentence, and puts all this back into its translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.text.capitals import Cost, without_capitals
from rnnsearch.text.normalization import plain
from rnnsearch.text.protected import ALL_SYMBOLS, as_symbols, span_of
from rnnsearch.translation.translation import PlacedTerm

_FINAL = frozenset(".!?…")


class Written(NamedTuple):
    """Words of a translation, and for each the row of the alignment that it was written with; None if it was added here."""

    word: str
    row: int | None
    source: int
    """The number of the source word that it was read from."""


@dataclass(frozen=True)
class Seen:
    """What a model sees of a sentence."""

    words: list[str]
    """The words, as they are written."""
    seen: list[str]
    """What the model sees of each."""
    places: dict[str, int]
    """The number of the word that each symbol stands for."""
    capitals: list[bool]
    """Which words were in capitals and are not so any longer."""
    language: str
    further: Mapping[str, str] = field(default_factory=dict)
    """Words that are spans though nothing says so but the line that they are in; see `rnnsearch.text.protected`."""

    @classmethod
    def of(cls, words: list[str], language: str, cost: Cost, further: Mapping[str, str] = MappingProxyType({})) -> Seen:
        """What a model with this vocabulary sees of these words of a source."""
        seen, places = as_symbols(words, language, further)
        ordinary = [word if seen[place] == word else "" for place, word in enumerate(words)]
        usual, capitals = without_capitals(ordinary, cost)
        shown = [one or symbol for one, symbol in zip(usual, seen, strict=True)]
        return cls(words, shown, places, capitals, language, further)

    @property
    def kept(self) -> set[str]:
        """The spans that are kept as they are written."""
        spans = [span_of(self.words[place], self.language, self.further) for place in self.places.values()]
        return {span.text for span in spans if span and span.quantity is None}

    def faults(self, tokens: Sequence[str]) -> int:
        """How many symbols a translation lacks, has twice, or has made up."""
        counts = [tokens.count(symbol) for symbol in self.places]
        made_up = sum(token in ALL_SYMBOLS and token not in self.places for token in tokens)
        return sum(abs(count - 1) for count in counts) + made_up

    def restored(self, tokens: Sequence[str], read_from: Sequence[int], language: str, prefix: int = 0) -> list[Written]:
        """The words of the translation in `language`, with each span in it exactly once.

        A span that the model left out is put behind the first `prefix` words, which the caller has given.

        `tokens` are the words that the model wrote, and `read_from` the number of the source word that each was read from,
        which is the number of source words where it is the end.
        """
        written = [
            Written(token, row, self.places.get(token, source))
            for row, (token, source) in enumerate(zip(tokens, read_from, strict=True))
            if token not in ALL_SYMBOLS or (token in self.places and token not in tokens[:row])
        ]
        for symbol, place in self.places.items():
            if symbol not in tokens:
                written.insert(max(prefix, self._position(written, place)), Written(symbol, None, place))
        written = self._with_ending(written)
        return [one._replace(word=self._word(one, language)) for one in written]

    def _position(self, written: Sequence[Written], place: int) -> int:
        """Where a span belongs that the model left out: behind the translation of the word before it, or first."""
        if place == len(self.words) - 1:
            return len(written)
        for before in range(place - 1, -1, -1):
            found = [position for position, one in enumerate(written) if one.source == before]
            if found:
                return found[-1] + 1
        return 0

    def _with_ending(self, written: list[Written]) -> list[Written]:
        """The translation with a full stop only where the source has one, and with its question or exclamation mark."""
        if len(written) < 2 or not self.words:
            return written
        end, last = plain(self.words[-1]), written[-1]
        if last.word == "." and end not in _FINAL:
            return written[:-1] if end not in (":", ";", ",") else [*written[:-1], last._replace(word=end)]
        if last.word == "." and end in ("?", "!"):
            return [*written[:-1], last._replace(word=end)]
        if end in (".", "?", "!") and len(self.words) > 1 and (last.word[-1].isalnum() or last.word in self.places):
            return [*written, Written(end, None, len(self.words) - 1)]
        return written

    def _word(self, written: Written, language: str) -> str:
        """A word as a reader sees it."""
        if written.word in self.places:
            span = span_of(self.words[self.places[written.word]], self.language, self.further)
            assert span is not None
            return span.written(language)
        emphasised = written.source < len(self.capitals) and self.capitals[written.source]
        return written.word.upper() if emphasised or (self.capitals and all(self.capitals)) else written.word


def rows_of(written: Sequence[Written], alignment: NDArray[np.float32]) -> NDArray[np.float32]:
    """α of these words, (words, source words + 1), from that of the words that the model wrote; of an added one, its own."""
    found = np.zeros((len(written), alignment.shape[1]), np.float32)
    for place, one in enumerate(written):
        if one.row is None:
            found[place, one.source] = 1
        else:
            found[place] = alignment[one.row]
    return found


def moved_terms(terms: Sequence[PlacedTerm], written: Sequence[Written]) -> list[PlacedTerm]:
    """The terms at the places that their words have now."""
    places = {one.row: place for place, one in enumerate(written) if one.row is not None}
    return [
        replace(term, target_start=places[term.target_start], target_stop=places[term.target_stop - 1] + 1)
        for term in terms
        if term.target_start in places and term.target_stop - 1 in places
    ]
