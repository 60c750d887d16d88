"""The protected spans of a line for one model: those of any text, and what this model does not know.

A model knows the letters and the words that its vocabulary has. What it does not know it would write with other letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rnnsearch.config import DataConfig
from rnnsearch.text import Vocabulary
from rnnsearch.text.known_words import known_words
from rnnsearch.text.names import find_full_names, find_names, find_titled_names, find_unpronounceable
from rnnsearch.text.patterns import Patterns
from rnnsearch.text.protected import Protected, find_protected, unknown_abbreviations, unknown_spans
from rnnsearch.text.quantities import find_quantities
from rnnsearch.text.spans import Span
from rnnsearch.text.vocabulary import UNK
from rnnsearch.translation.glossary import NO_TERMS, Glossary

DIVIDED = 3
"""A name that the vocabulary divides into so many subwords, or more, is copied; a model spells other names correctly."""


class Protection:
    """Finds the protected spans of the lines of one model."""

    def __init__(self, data: DataConfig, vocabulary: Vocabulary) -> None:
        """`vocabulary` is that of the source."""
        self.is_on = data.protects
        self._language, self._vocabulary = data.source_language, vocabulary
        self._finds_unknown = vocabulary.subwords is not None
        self._words = known_words(data.source_language, data.target_language) if data.protects else None
        self._known: dict[str, bool] = {}

    def spans(self, line: str, patterns: Patterns, glossary: Glossary = NO_TERMS) -> list[Protected]:
        """Return the protected spans of a line, in order."""
        if not self.is_on:
            return []
        given = patterns.spans(line)
        if not self._finds_unknown:
            return find_protected(line, self._language, given)
        is_known = self._words.knows if self._words else None
        abbreviations = unknown_abbreviations(line, self._is_undivided, is_known)
        spans = find_protected(line, self._language, [*given, *self._unknown(line, abbreviations, glossary)])
        # What the user has protected stays as it is.
        return [
            replace(span, is_abbreviation=True)
            if (span.start, span.stop) in abbreviations and (span.start, span.stop) not in given
            else span
            for span in spans
        ]

    def _unknown(self, line: str, abbreviations: Sequence[Span], glossary: Glossary) -> list[Span]:
        """Return the characters, abbreviations and names that the model does not know, without those of the glossary."""
        words = [*abbreviations]
        if self._words is not None:
            words += find_names(line, self._words.knows, self._is_divided)
            words += find_full_names(line, self._words.knows)
            words += find_titled_names(line) + find_unpronounceable(line, self._words.knows)
        words = [span for span in words if not glossary.has_word_of(line[slice(*span)])]
        unknown = [*unknown_spans(line, self._knows), *words]
        quantities = find_quantities(line, self._language) if unknown else []
        return [
            (start, stop)
            for start, stop in unknown
            if not any(quantity.start <= start < quantity.stop for quantity in quantities)
        ]

    def _knows(self, letter: str) -> bool:
        """Return whether the vocabulary contains a character at the beginning of words or inside them."""
        if letter not in self._known:
            encode = self._vocabulary.encode
            self._known[letter] = UNK not in encode([letter]) or UNK not in encode([f"a{letter}"])
        return self._known[letter]

    def _is_undivided(self, word: str) -> bool:
        return len(self._vocabulary.encode([word])) == 1

    def _is_divided(self, word: str) -> bool:
        return len(self._vocabulary.encode([word])) >= DIVIDED
