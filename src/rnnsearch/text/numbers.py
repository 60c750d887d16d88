"""The numbers of running text, in figures and in words, and the search for those that a translation lacks.

A number has the same value in every notation: `1,250.5` in English is `1 250,5` in French, `3 p.m.` is `15 h`, and
« vingt-quatre » is 24. An ambiguous notation such as `1.250` has several values, and a translation needs one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from rnnsearch.text.expressions import Expression


class Number(NamedTuple):
    """A number in a text."""

    text: str
    """The number as it is written."""
    readings: frozenset[str]
    """Its possible values, as in `1250.5`."""
    is_sure: bool = True
    """Whether a translation must contain the number; False for ambiguous words such as « neuf », "one" and "you two"."""


_GROUP = r"[., \u00a0\u202f\u2009'’]"
_FIGURES = Expression(
    rf"(?<number>(?<![0-9])[0-9]{{1,3}}(?:{_GROUP}[0-9]{{3}})+(?![0-9])(?:[.,][0-9]+)?|[0-9]+(?:[.,][0-9]+)?)"
    r"(?<hour>(?=(?:[:.][0-5][0-9])?\s?(?<half>[ap])\.?\s?m\b)|(?=\s?h\b|\s?h[0-9]|:\s?[0-5][0-9]))?",
    regex.IGNORECASE,
)
_FULL_HOUR = Expression(r"[0-9](?::\s?|\s?h\s?)$", regex.IGNORECASE)
_TIME_WITH_STOP = Expression(r"(?<![0-9.,])([01]?[0-9]|2[0-3])\.([0-5][0-9])(?![0-9])")
_ROMAN = Expression(r"(?<!\w)(?=[IVXLC])(C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})(?:er|re|e|ème)?(?!\w)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_WORD = Expression(r"\p{L}+")


class _Words(NamedTuple):
    """The number words of a language."""

    values: dict[str, int]
    """The words for numbers below 100."""
    scales: dict[str, int]
    also: dict[str, tuple[int, ...]]
    """Further words that can express a number in a translation, with the numbers."""
    joins: str
    """The word between the parts of a number."""
    unsure: frozenset[str]


def _counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    """Return these words with consecutive numbers from `first` on; words that are joined by `/` have the same number."""
    return {word: first + place * step for place, each in enumerate(words.split()) for word in each.split("/")}


def _alike(*words: dict[str, int]) -> dict[str, tuple[int, ...]]:
    values: dict[str, tuple[int, ...]] = {}
    for each in words:
        for word, value in each.items():
            values[word] = (*values.get(word, ()), value)
    return values


_WORDS = {
    "en": _Words(
        {
            **_counted("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"),
            **_counted("sixteen seventeen eighteen nineteen", 16),
            **_counted("twenty thirty forty/fourty fifty sixty seventy eighty ninety", 20, 10),
        },
        {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9},
        _alike(
            _counted("first/a/an/once second/both/couple/pair/twice/double third/triple/thrice fourth fifth sixth", 1),
            _counted("seventh eighth ninth tenth eleventh twelfth/dozen/noon/midnight thirteenth fourteenth", 7),
            _counted("fifteenth/quarter sixteenth seventeenth eighteenth nineteenth twentieth/score", 15),
            _counted("january february march april may june july august september october november december", 1),
            {"half": 30, "midnight": 0, "fortnight": 15, "tens": 10, "hundreds": 100, "thousands": 1000},
        ),
        "and",
        frozenset({"one", "two", "zero", "hundred", "thousand", "million", "billion"}),
    ),
    "fr": _Words(
        {
            **_counted("zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"),
            **_counted("vingt/vingts trente quarante cinquante soixante septante huitante/octante nonante", 20, 10),
        },
        {"cent": 100, "cents": 100, "mille": 1000, "million": 10**6, "millions": 10**6, "milliard": 10**9,
         "milliards": 10**9},
        _alike(
            _counted("premier/première/premiers/premières deuxième/second/seconde/paire/double troisième/triple", 1),
            _counted("quatrième cinquième sixième septième huitième/huitaine neuvième dixième/dizaine onzième", 4),
            _counted("douzième/douzaine/midi/minuit treizième quatorzième quinzième/quinzaine/quart seizième", 12),
            _counted("vingtième/vingtaine trentième/trentaine/demie/demi quarantaine cinquantaine soixantaine", 20, 10),
            _counted("janvier février mars avril mai juin juillet août septembre octobre novembre décembre", 1),
            {"minuit": 0, "centaine": 100, "centaines": 100, "millier": 1000, "milliers": 1000, "quinzaine": 14},
        ),
        "et",
        frozenset({"un", "une", "deux", "zéro", "neuf", "cent", "cents", "mille", "million", "millions", "milliard",
                   "milliards"}),
    ),
}  # fmt: skip
_SMALL = 12
"""In a language without a table of number words, numbers up to this are assumed to be written as words."""


def numbers_in(text: str, language: str) -> list[Number]:
    """Return the numbers of a text: those in figures, and those in words if there is a table for the language."""
    return [*_in_figures(text), *_in_words(text, language)]


def missing_numbers(source: str, target: str, source_language: str, target_language: str) -> list[str]:
    """Return the numbers of the source that its translation lacks, as they are written in the source, figures first.

    The translation may contain them in any notation or as words. Small numbers are never missing in a language without a
    table of number words.
    """
    expected = [number for number in numbers_in(source, source_language) if number.is_sure]
    if not expected:
        return []
    present = [number.readings for number in numbers_in(target, target_language)]
    if target_language in _WORDS:
        present += [frozenset(readings) for readings in _further(target, _WORDS[target_language])]
    else:
        expected = [number for number in expected if not any(float(one) <= _SMALL for one in number.readings)]
    missing = []
    for number in expected:
        place = next((place for place, readings in enumerate(present) if readings & number.readings), None)
        if place is None:
            missing.append(number.text)
        else:
            del present[place]
    return missing


def _in_figures(text: str) -> Iterator[Number]:
    for match in _FIGURES.finditer(text) if any(map(str.isdecimal, text)) else ():
        readings = set(_readings(match["number"]))
        if match["hour"] is not None:
            hour = int(regex.match("[0-9]+", match["number"])[0])
            if match["half"] and hour <= 12:
                readings.add(str(hour % 12 + (12 if match["half"] in "pP" else 0)))
            elif 12 < hour < 24:
                readings.add(str(hour - 12))
        is_full_hour = match["number"] == "00" and _FULL_HOUR.search(text, max(0, match.start() - 4), match.start())
        yield Number(match["number"], frozenset(readings), not is_full_hour)


def _readings(figures: str) -> Iterator[str]:
    """Return the possible values of a number in figures."""
    *groups, last = regex.split(r"[^0-9]", figures)
    signs = regex.findall(r"[^0-9]", figures)
    if all(len(group) == 3 for group in (*groups[1:], last)) and len({*signs}) == 1:
        yield _plain("".join((*groups, last)))
    if not signs:
        yield _plain(last)
    elif signs[-1] in ".," and (len(signs) == 1 or signs[-1] != signs[0]):
        yield _plain("".join(groups), last)
    elif len({*signs}) > 1:  # in no known notation
        yield _plain("".join((*groups, last)))


def _plain(whole: str, decimals: str = "") -> str:
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")


def _in_words(text: str, language: str) -> Iterator[Number]:
    """Return the numbers that are written as words; each takes as many words as possible."""
    if language not in _WORDS:
        return
    words = _WORDS[language]
    run: list[regex.Match[str]] = []
    total = current = 0

    def ended() -> Iterator[Number]:
        if run:
            is_sure = len(run) > 1 or run[0][0].lower() not in words.unsure
            yield Number(text[run[0].start() : run[-1].end()], frozenset({str(total + current)}), is_sure)

    joined = False
    for match in _WORD.finditer(text):
        word = match[0].lower()
        follows = bool(run) and regex.fullmatch(r"[\s-]*", text, pos=run[-1].end(), endpos=match.start()) is not None
        if word == words.joins and follows:
            joined = True
            continue
        if joined and run:
            between = regex.fullmatch(rf"\s+{words.joins}\s+|-{words.joins}-", text, regex.IGNORECASE, pos=run[-1].end(),
                                      endpos=match.start())  # fmt: skip
            follows = between is not None and _may_be_joined(current or total, words.values.get(word, 0), language)
        joined = False
        value, scale = words.values.get(word), words.scales.get(word)
        if value is not None and follows and _adds(current, value, language):
            current += 76 if value == 20 and current % 100 == 4 else value  # « quatre-vingts »
        elif scale is not None and follows and (current or total) and (scale > 100 or 0 < current < 100):
            if scale == 100:
                current *= 100
            else:
                total, current = total + max(1, current) * scale, 0
        elif scale == 100 and follows and current == 0:  # « mille cent »
            current = 100
        else:
            yield from ended()
            run, total, current = [], 0, 0
            if value is not None:
                current = value
            elif scale is not None:
                total, current = (0, scale) if scale == 100 else (scale, 0)
            else:
                continue
        run.append(match)
    yield from ended()


def _adds(current: int, value: int, language: str) -> bool:
    """Return whether this word can continue a number below 100."""
    rest = current % 100
    if language == "fr" and value == 20 and rest == 4:  # « quatre-vingts »
        return True
    if rest == 0:
        return current >= 100 or current == 0
    if language == "fr" and rest in (60, 80):
        return 0 < value < 17
    if language == "fr" and rest in (10, 70, 90):  # « dix-sept »
        return 7 <= value <= 9
    return rest >= 20 and rest % 10 == 0 and 0 < value < 10


def _may_be_joined(number: int, value: int, language: str) -> bool:
    """Return whether "and" or « et » may precede this word within a number."""
    return value in (1, 11) and number % 100 >= 20 if language == "fr" else number >= 100 and number % 100 == 0


def _further(text: str, words: _Words) -> Iterator[Sequence[str]]:
    """Return other expressions of numbers in a translation: `both`, names of months, `XIV`, both parts of `5.45`."""
    for match in _WORD.finditer(text):
        values = words.also.get(match[0].lower())
        if values:
            yield [str(value) for value in values]
    for match in _TIME_WITH_STOP.finditer(text):
        yield from ([_plain(part)] for part in match.groups())
    for match in _ROMAN.finditer(text):
        letters = [_ROMAN_VALUES[letter] for letter in "".join(match.groups())]
        total = sum(-one if one < after else one for one, after in zip(letters, [*letters[1:], 0], strict=True))
        yield [str(total)]
