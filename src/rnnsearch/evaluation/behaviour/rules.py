"""The rules of translations; each rule describes the fault of a translation, or returns an empty string."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import regex

from rnnsearch.search.repetition import breaks_limits
from rnnsearch.text.address import mixes_address
from rnnsearch.text.numbers import missing_numbers
from rnnsearch.text.vocabulary import UNK_SYMBOL
from rnnsearch.translation.sentences import as_passage, has_words

Rule = Callable[[str, str, tuple[str, str]], str]
"""A function of a line, its translation and the languages of both, which returns a fault or an empty string."""

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_FINAL = regex.compile(r"([.?!…])[\s»”\"’')\]]*$")
_QUOTES = {"fr": r"«\s?[^«»]+\s?»", "en": r"“[^“”]+”|‘[^‘’]+’|'[^']+'|\"[^\"]+\""}
_STRAIGHT = r"\"[^\"]+\""
"""Quotation marks that may remain unchanged in either language."""
_SPACES = {
    # Each is a mistake.
    "fr": r"\p{L}[?!](?!\p{L})|\p{L}[;:](?=\s)|\s[,.](?:\s|$)",
    "en": r"\s[?!;:,.](?:\s|$)",
}


def always(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """Return the faults that are wrong for any line: an empty translation, a repetition loop, or an unknown word."""
    faults = []
    if not target.strip():
        faults.append("is empty")
    if UNK_SYMBOL in target:
        faults.append(f"has {UNK_SYMBOL}")
    numbers: dict[str, int] = {}
    ids = [[numbers.setdefault(word, len(numbers)) for word in _WORDS.findall(text.lower())] for text in (source, target)]
    if breaks_limits(*ids) or len(target) > 40 + 3 * len(source):
        faults.append("repeats itself")
    return faults


def _numbers(source: str, target: str, languages: tuple[str, str]) -> str:
    missing = missing_numbers(source, target, *languages)
    return f"lacks {', '.join(missing)}" if missing else ""


def _capitals(source: str, target: str, languages: tuple[str, str]) -> str:
    return "" if target.isupper() else "is not in capitals"


def _no_capitals(source: str, target: str, languages: tuple[str, str]) -> str:
    letters = [letter for letter in target if letter.isalpha()]
    return "is in capitals" if len(letters) > 1 and all(map(str.isupper, letters)) else ""


def _final_mark(source: str, target: str, languages: tuple[str, str]) -> str:
    expected, actual = ((_FINAL.search(text) or [None, ""])[1] for text in (source, target))
    return "" if expected == actual else f"ends with {actual or 'no mark'} and not with {expected or 'none'}"


def _spaces(source: str, target: str, languages: tuple[str, str]) -> str:
    wrong = regex.search(_SPACES[languages[1]], target)
    return f"has a wrong space in “{wrong[0]}”" if wrong else ""


def _quotes(source: str, target: str, languages: tuple[str, str]) -> str:
    kept = regex.search(_STRAIGHT, source) and regex.search(_STRAIGHT, target)
    return "" if kept or regex.search(_QUOTES[languages[1]], target) else "has no quotation marks of its language"


def _one_address(source: str, target: str, languages: tuple[str, str]) -> str:
    return "has tu and vous" if mixes_address(target, languages[1]) else ""


def _sentences(source: str, target: str, languages: tuple[str, str]) -> str:
    expected, actual = (
        sum(map(has_words, as_passage(text, language).sentences))
        for text, language in zip((source, target), languages, strict=True)
    )
    return "" if actual >= expected else f"has {actual} of {expected} sentences"


def _begins(source: str, target: str, languages: tuple[str, str]) -> str:
    mark = source[: source.index(" ") + 1]
    return "" if target.startswith(mark) else f"does not begin with “{mark}”"


RULES: dict[str, Rule] = {
    "numbers": _numbers,
    "capitals": _capitals,
    "no capitals": _no_capitals,
    "final mark": _final_mark,
    "spaces": _spaces,
    "quotes": _quotes,
    "one address": _one_address,
    "sentences": _sentences,
    "begins": _begins,
}
"""The rules by their names in the files of suites."""


@cache
def word_pattern(pattern: str) -> regex.Pattern[str]:
    """Return a pattern that matches whole words, regardless of case."""
    return regex.compile(rf"(?i)(?<![\p{{L}}\p{{N}}])(?:{pattern})(?![\p{{L}}\p{{N}}])")
