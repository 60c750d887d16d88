"""The restoration of protected spans, capitals and the final mark in the output of a model.

A model sees symbols instead of protected spans (`rnnsearch.text.protected`), and lower case instead of words in capitals
(`rnnsearch.text.capitals`). `Seen` holds a sentence as the model sees it, and restores all this in its translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.text import abbreviations, elision
from rnnsearch.text.capitals import Cost, without_capitals, without_title_case
from rnnsearch.text.determiners import before_word
from rnnsearch.text.normalization import plain
from rnnsearch.text.protected import ALL_SYMBOLS, SYMBOLS, Protected, as_symbols, span_of
from rnnsearch.translation.translation import PlacedTerm

_FINAL = frozenset(".!?…")
_SIGNS = frozenset("*#_|\\~^<>{}[]@•©®™")
"""Characters that a translation never has unless its source has them."""
_PARTNERS = {"«": "»", "“": "”", "„": "“", "‹": "›", '"': '"'}
"""By opening quotation mark, the closing one."""


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
    further: Mapping[str, Protected] = field(default_factory=dict)
    """Words that only their line reveals to be spans; see `rnnsearch.text.protected.further_words`."""
    apart: frozenset[str] = frozenset()
    """Signs that have spaces around them in the line, which would be written without."""

    @classmethod
    def of(
        cls,
        words: list[str],
        language: str,
        cost: Cost,
        further: Mapping[str, Protected] = MappingProxyType({}),
        apart: frozenset[str] = frozenset(),
    ) -> Seen:
        """Return these source words in the form that a model with this vocabulary sees."""
        seen, places = as_symbols(words, language, further)
        ordinary = [word if seen[place] == word else "" for place, word in enumerate(words)]
        usual, capitals = without_capitals(
            [_without_dots(_figures(word)) for word in without_title_case(ordinary, cost)], cost
        )
        shown = [one or symbol for one, symbol in zip(usual, seen, strict=True)]
        return cls(words, shown, places, capitals, language, further, apart)

    @property
    def kept(self) -> set[str]:
        """The words that are kept verbatim, with the spaces around them."""
        spans = [span_of(self.words[place], self.language, self.further) for place in self.places.values()]
        return {span.text for span in spans if span and span.quantity is None} | self.apart

    def with_symbols(self, prefix: list[str], tokenize: Callable[[str], list[str]], language: str) -> list[str]:
        """Return the words of a given prefix of the translation with symbols in place of the spans that it contains."""
        for symbol, place in self.places.items():
            words = tokenize(self._word(Written(symbol, None, place), language)) if prefix else []
            starts = range(len(prefix) - len(words) + 1)
            start = next((start for start in starts if words and prefix[start : start + len(words)] == words), None)
            if start is not None:
                prefix = [*prefix[:start], symbol, *prefix[start + len(words) :]]
        return prefix

    def faults(self, tokens: Sequence[str]) -> int:
        """Return the number of symbols that are missing in a translation, repeated, or not in the source."""
        counts = [tokens.count(symbol) for symbol in self.places]
        made_up = sum((token in ALL_SYMBOLS and token not in self.places) or self._is_stray(token) for token in tokens)
        return sum(abs(count - 1) for count in counts) + made_up

    def _is_stray(self, token: str) -> bool:
        """Return whether a word of the translation consists of signs that the source does not have."""
        return token not in ALL_SYMBOLS and _SIGNS.issuperset(token) and not any(token in word for word in self.words)

    def restored(self, tokens: Sequence[str], read_from: Sequence[int], language: str, prefix: int = 0) -> list[Written]:
        """Return the words of the translation in `language`, with each span exactly once and without stray signs.

        Quotation marks and brackets are balanced, final marks are those of the source, and the first word has a capital if
        that of the source has one. A span that the model omitted is inserted after the first `prefix` words, which the
        caller has given.
        `tokens` are the words of the model's output, and `read_from` holds for each the number of the source word that it
        is aligned to; the number of source words stands for the end symbol.
        """
        written = [
            Written(token, row, self.places.get(token, source))
            for row, (token, source) in enumerate(zip(tokens, read_from, strict=True))
            if (token in self.places and token not in tokens[:row])
            or (token not in ALL_SYMBOLS and (row < prefix or not self._is_stray(token)))
        ]
        for symbol, place in self.places.items():
            if symbol not in tokens:
                written.insert(max(prefix, self._position(written, place)), Written(symbol, None, place))
        written = self._with_brackets(
            _of_one_kind(self._with_quotes(self._without_repetitions(written, prefix), prefix)), prefix
        )
        written = self._with_ending(written)
        written = self._with_forms(self._with_ellipses(written, prefix), language, prefix)
        if language == "fr" and not prefix:
            written = self._with_colon(written)
        words = [one._replace(word=self._word(one, language)) for one in written]
        return words if prefix else self._with_capital(words)

    def _position(self, written: Sequence[Written], place: int) -> int:
        """Return the position of a span that the model omitted: after the translation of the preceding word, or first."""
        if place == len(self.words) - 1:
            return len(written)
        for before in range(place - 1, -1, -1):
            positions = [position for position, one in enumerate(written) if one.source == before]
            if positions:
                return positions[-1] + 1
        return 0

    def _with_quotes(self, written: list[Written], prefix: int) -> list[Written]:
        """Return the translation with the quotation mark that it lacks, if the source has pairs of marks.

        A closing mark comes after the last word that is aligned between the marks of the source, and an opening one before
        the first such word.
        """
        marks = [place for place, word in enumerate(self.words) if plain(word) == '"']
        own = [place for place, one in enumerate(written) if plain(one.word) == '"']
        if len(marks) % 2 or len(own) % 2 == 0 or len(own) > len(marks):
            return written
        # The first mark that does not belong to a pair: a closing one where a pair should begin, or an opening one that is
        # the last mark or comes before another opening one.
        lone = next(
            at
            for at in range(0, len(own), 2)
            if written[own[at]].word not in _PARTNERS or at + 1 == len(own) or _opens(written[own[at + 1]])
        )
        first, last = marks[lone : lone + 2]
        inside = [place for place, one in enumerate(written) if first < one.source < last and one.word not in (".", ",")]
        mark = written[own[lone]].word
        if mark in _PARTNERS:
            later = [place for place in inside if place > own[lone]]
            position = max(later, default=len(written) - 1) + 1
            if not later or position < prefix:
                return written
            return [*written[:position], Written(_PARTNERS[mark], None, last), *written[position:]]
        opening = next((one for one, partner in _PARTNERS.items() if partner == mark), None)
        earlier = [place for place in inside if place < own[lone]]
        if opening is None or not earlier or earlier[0] < prefix:
            return written
        return [*written[: earlier[0]], Written(opening, None, first), *written[earlier[0] :]]

    def _with_brackets(self, written: list[Written], prefix: int) -> list[Written]:
        """Return the translation with the round bracket that it lacks, if the source has pairs of them.

        It comes beside the outermost word that is aligned between the brackets of the source.
        """
        pairs = _pairs(self.words)
        counts = [sum(one.word == bracket for one in written) for bracket in "()"]
        if not pairs or abs(counts[0] - counts[1]) != 1 or max(counts) > len(pairs):
            return written
        lacks_closing = counts[0] > counts[1]
        own = [place for place, one in enumerate(written) if one.word in ("(", ")")]
        is_lone = [
            written[place].word == "(" and (at + 1 == len(own) or written[own[at + 1]].word == "(")
            if lacks_closing
            else written[place].word == ")" and (at == 0 or written[own[at - 1]].word == ")")
            for at, place in enumerate(own)
        ]
        at = is_lone.index(True)
        first, last = pairs[sum(written[place].word == written[own[at]].word for place in own[:at])]
        start = own[at] if lacks_closing else own[at - 1] if at else -1
        stop = own[at] if not lacks_closing else own[at + 1] if at + 1 < len(own) else len(written)
        between = range(start + 1, stop)
        inside = [place for place in between if first < written[place].source < last]
        if not inside or min(inside) < prefix:
            return written
        position = max(inside) + 1 if lacks_closing else min(inside)
        return [*written[:position], Written(")" if lacks_closing else "(", None, last), *written[position:]]

    def _without_repetitions(self, written: list[Written], prefix: int) -> list[Written]:
        """Return the translation without words that are there twice in succession, if the source has no such words.

        This concerns single words and groups of up to four, such as "on Saturday, on Saturday,".
        """
        if any(_repeats(self.words, place, size) for size in range(1, 5) for place in range(size, len(self.words))):
            return written
        place = max(prefix, 1)
        while place < len(written):
            words = [one.word for one in written]
            size = next((size for size in range(4, 0, -1) if _repeats(words, place, size)), 0)
            if size and place - size >= prefix:
                written = written[:place] + written[place + size :]
            else:
                place += 1
        return written

    def _with_forms(self, written: list[Written], language: str, prefix: int) -> list[Written]:
        """Return the translation with small words in their right form, such as « l' » before IBAN and « m' » before « a ».

        « 2 c. à s. » is followed by « de », and a full stop at the end of a quantity can be that of the sentence.
        Determiners agree with an abbreviation whose gender is known.
        """
        result = written[:prefix]
        for one, after in zip(written[prefix:], [*written[prefix + 1 :], None], strict=False):
            last = result[-1] if result else None
            if last and last.word in SYMBOLS["quantity"] and (text := self._word(last, language)).endswith("."):
                added = [Written(word, None, last.source) for word in elision.of(one.word) if text[-2].islower()]
                result += [] if one.word == "." else [*added, one]
            elif after is None or one.word in self.places:
                result.append(one)
            elif gender := self._agreement(after, language):
                earlier = [before.word for before in [*result[prefix:][-1:], one]]
                count, words = before_word(earlier, self._word(after, language), gender, language)
                result = result[: len(result) + 1 - count]
                result += [one._replace(word=words[0]), *(Written(word, None, one.source) for word in words[1:])]
            else:
                before = elision.before if after.word in self.places else elision.between
                first, *more = before(one.word, self._word(after, language), language)
                result += [one._replace(word=first), *(Written(word, None, one.source) for word in more)]
        return result

    def _agreement(self, written: Written, language: str) -> str:
        """Return how a determiner agrees with this word if it stands for an abbreviation, or nothing."""
        if written.word not in self.places:
            return ""
        span = span_of(self.words[self.places[written.word]], self.language, self.further)
        return abbreviations.agreement(span.text, language) if span and span.is_abbreviation else ""

    def _with_ellipses(self, written: list[Written], prefix: int) -> list[Written]:
        """Return the translation with the character `…` instead of three full stops, if the source has it."""
        if "…" not in self.words or "..." in self.words:
            return written
        return [
            one._replace(word="…") if one.word == "..." and place >= prefix else one for place, one in enumerate(written)
        ]

    def _with_colon(self, written: list[Written]) -> list[Written]:
        """Return a French translation with a colon, not a comma, before a quotation within the sentence."""
        commas = [place for place in range(1, len(self.words) - 1) if self.words[place] == ","]
        if not any(plain(self.words[place + 1]) == '"' for place in commas):
            return written
        return [
            one._replace(word=":")
            if one.word == ","
            and 0 < place < len(written) - 2
            and written[place + 1].word == "«"
            and not any(earlier.word in ("«", "»") for earlier in written[:place])
            else one
            for place, one in enumerate(written)
        ]

    def _with_capital(self, written: list[Written]) -> list[Written]:
        """Return the translation with a capital letter at its beginning if the source has a word with one there."""
        if not written or not self.words or self.words[0].isupper():
            return written
        first, word = self.words[0], written[0].word
        if not (first[0].isupper() and first[1:].islower() and word.islower()) or word in self.kept:
            return written
        return [written[0]._replace(word=word[0].upper() + word[1:]), *written[1:]]

    def _with_ending(self, written: list[Written]) -> list[Written]:
        """Return the translation with the source's final full stop, question mark or exclamation mark, or without any."""
        if not written or not self.words:
            return written
        end, last = "." if _WITH_STOP.fullmatch(self.words[-1]) else plain(self.words[-1]), written[-1]
        if self._shouts:
            return self._with_run(written)
        if last.word == "." and len(written) == 1:
            return written
        if last.word == "." and end not in _FINAL:
            return written[:-1] if end not in (":", ";", ",") else [*written[:-1], last._replace(word=end)]
        if last.word == "." and end in ("?", "!"):
            return [*written[:-1], last._replace(word=end)]
        if end in (".", "?", "!") and len(self.words) > 1 and (last.word[-1].isalnum() or last.word in self.places):
            return [*written, Written(end, None, len(self.words) - 1)]
        return written

    @property
    def _shouts(self) -> bool:
        """Whether the source ends with several exclamation or question marks."""
        return len(self.words) > 2 and all(word in ("!", "?") for word in self.words[-2:])

    def _with_run(self, written: list[Written]) -> list[Written]:
        """Return the translation with the run of exclamation and question marks at the end of the source."""
        start, stop = len(self.words), len(written)
        while self.words[start - 1] in ("!", "?") and start > 1:
            start -= 1
        while stop > 1 and written[stop - 1].word in ("!", "?", "."):
            stop -= 1
        return written[:stop] + [Written(self.words[place], None, place) for place in range(start, len(self.words))]

    def _word(self, written: Written, language: str) -> str:
        """Return a word in the form for readers."""
        if written.word in self.places:
            span = span_of(self.words[self.places[written.word]], self.language, self.further)
            assert span is not None
            return span.written(language)
        written = written._replace(word=_ordinal(written.word, language))
        emphasised = written.source < len(self.capitals) and self.capitals[written.source]
        return written.word.upper() if emphasised or (self.capitals and all(self.capitals)) else written.word


def _pairs(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of opening and closing round brackets; none if they are nested or not in pairs."""
    places = [place for place, word in enumerate(words) if word in ("(", ")")]
    in_turns = all(words[place] == "()"[at % 2] for at, place in enumerate(places))
    return list(zip(places[::2], places[1::2], strict=True)) if in_turns and len(places) % 2 == 0 else []


def _of_one_kind(written: list[Written]) -> list[Written]:
    """Return the translation with « and » in place of `"`, if it has pairs of marks of both kinds."""
    marks = [place for place, one in enumerate(written) if plain(one.word) == '"']
    if len(marks) % 2 or not {'"'} < {written[place].word for place in marks} <= {'"', "«", "»"}:
        return written
    right = {place: "«»"[at % 2] for at, place in enumerate(marks)}
    return [one._replace(word=right.get(place, one.word)) for place, one in enumerate(written)]


_ROMAN_ORDINAL = re.compile(r"([XVI]{2,})(e|è?me|ème)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_ORDINALS = {"en": re.compile(r"(\d+)(?:th|st|nd|rd|r|e)"), "fr": re.compile(r"(\d+)(?:th|st|n?d|rd|ne|de)")}
"""Ordinals in figures, in English with any ending, in French with those that only another language has."""


def _figures(word: str) -> str:
    """Return the Roman number of a century in French, such as « XXIe », in figures; any other word as it is."""
    if not (match := _ROMAN_ORDINAL.fullmatch(word)):
        return word
    values = [_ROMAN_VALUES[letter] for letter in match[1]]
    return f"{sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))}e"


_WITH_DOTS = re.compile(r"(?:[A-Z]\.){2,}")
_WITH_STOP = re.compile(rf"{_WITH_DOTS.pattern}|[^\W\d_]{{2,}}\.")
"""An abbreviation, or a word that may be one: the tokeniser does not separate the full stop of « l'art. »."""


def _without_dots(word: str) -> str:
    """Return an abbreviation in capitals, such as `U.S.`, without its full stops; any other word as it is."""
    return word.replace(".", "") if _WITH_DOTS.fullmatch(word) else word


def _ordinal(word: str, language: str) -> str:
    """Return an English or French ordinal in figures with the right ending; another word as it is."""
    if language not in ("en", "fr") or not (match := _ORDINALS[language].fullmatch(word)):
        return word
    if language == "fr":
        return f"{match[1]}e"
    teens = match[1][-2:-1] == "1"
    return match[1] + ("th" if teens else {"1": "st", "2": "nd", "3": "rd"}.get(match[1][-1], "th"))


_MAY_REPEAT = frozenset(["nous", "vous", "had", "that", "very", "très", "is", "si", "no", "non", "ha", "so", "bye"])
"""Words that may be there twice, as in « vous vous appelez » and "he had had"."""


def _repeats(words: Sequence[str], place: int, size: int) -> bool:
    """Return whether the group of words at a place is the same as the group before it."""
    if not 0 < size <= place:
        return False
    group = [word.casefold() for word in words[place : place + size]]
    if group != [word.casefold() for word in words[place - size : place]]:
        return False
    return any(map(str.isalpha, "".join(group))) and not (
        _MAY_REPEAT.issuperset(group) or any(plain(word) == '"' for word in group)
    )


def _opens(written: Written) -> bool:
    """Return whether a word is an opening quotation mark that differs from the closing one."""
    return written.word in _PARTNERS and _PARTNERS[written.word] != written.word


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
