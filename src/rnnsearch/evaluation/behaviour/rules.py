"""The rules that translations have to follow: each tells what is wrong with one, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import regex

from rnnsearch.search.repetition import breaks_limits
from rnnsearch.text.numbers import missing_numbers
from rnnsearch.text.vocabulary import UNK_SYMBOL
from rnnsearch.translation.sentences import as_passage, has_words

Rule = Callable[[str, str, tuple[str, str]], str]
"""Of a line, its translation, and the languages of both: what is wrong, or nothing."""

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_FINAL = regex.compile(r"([.?!…])[\s»”\"’')\]]*$")
_FAMILIAR = regex.compile(r"(?i)(?<!\p{L})(?:tu|toi|te|ton|ta|tes|t['’]\p{L}+)(?!\p{L})")
_FORMAL = regex.compile(r"(?i)(?<!\p{L})(?:vous|votre|vos)(?!\p{L})")
_QUOTES = {"fr": r"«\s?[^«»]+\s?»", "en": r"“[^“”]+”|‘[^‘’]+’|'[^']+'|\"[^\"]+\""}
_STRAIGHT = r"\"[^\"]+\""
"""Quotation marks that may stay as they are in either language."""
_SPACES = {
    # Each is a mistake.
    "fr": r"\p{L}[?!](?!\p{L})|\p{L}[;:](?=\s)|\s[,.](?:\s|$)",
    "en": r"\s[?!;:,.](?:\s|$)",
}


def always(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """What is wrong with a translation of any line: it is empty, goes round in circles, or has an unknown word."""
    found = []
    if not target.strip():
        found.append("is empty")
    if UNK_SYMBOL in target:
        found.append(f"has {UNK_SYMBOL}")
    numbers: dict[str, int] = {}
    ids = [[numbers.setdefault(word, len(numbers)) for word in _WORDS.findall(text.lower())] for text in (source, target)]
    if breaks_limits(*ids) or len(target) > 40 + 3 * len(source):
        found.append("repeats itself")
    return found


def _numbers(source: str, target: str, languages: tuple[str, str]) -> str:
    missing = missing_numbers(source, target, *languages)
    return f"lacks {', '.join(missing)}" if missing else ""


def _capitals(source: str, target: str, languages: tuple[str, str]) -> str:
    return "" if target.isupper() else "is not in capitals"


def _no_capitals(source: str, target: str, languages: tuple[str, str]) -> str:
    letters = [letter for letter in target if letter.isalpha()]
    return "is in capitals" if len(letters) > 1 and all(map(str.isupper, letters)) else ""


def _final_mark(source: str, target: str, languages: tuple[str, str]) -> str:
    wanted, found = ((_FINAL.search(text) or [None, ""])[1] for text in (source, target))
    return "" if wanted == found else f"ends with {found or 'no mark'} and not with {wanted or 'none'}"


def _spaces(source: str, target: str, languages: tuple[str, str]) -> str:
    wrong = regex.search(_SPACES[languages[1]], target)
    return f"has a wrong space in “{wrong[0]}”" if wrong else ""


def _quotes(source: str, target: str, languages: tuple[str, str]) -> str:
    kept = regex.search(_STRAIGHT, source) and regex.search(_STRAIGHT, target)
    return "" if kept or regex.search(_QUOTES[languages[1]], target) else "has no quotation marks of its language"


def _one_address(source: str, target: str, languages: tuple[str, str]) -> str:
    return "has tu and vous" if _FAMILIAR.search(target) and _FORMAL.search(target) else ""


def _sentences(source: str, target: str, languages: tuple[str, str]) -> str:
    wanted, found = (
        sum(map(has_words, as_passage(text, language).sentences))
        for text, language in zip((source, target), languages, strict=True)
    )
    return "" if found >= wanted else f"has {found} of {wanted} sentences"


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
"""By the names that the files of suites use."""


@cache
def word_pattern(pattern: str) -> regex.Pattern[str]:
    """A pattern as whole words, in capitals or not."""
    return regex.compile(rf"(?i)(?<![\p{{L}}\p{{N}}])(?:{pattern})(?![\p{{L}}\p{{N}}])")
