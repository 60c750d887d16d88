"""Marks of a translation that follow from those of its source: symbols, quotation marks, and the final marks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import regex

from rnnsearch.text.normalization import plain

_FREE = frozenset("+°%№−")
"""Symbols that one language may write where the other one has a word."""
_PUNCTUATION = frozenset(r"*&@#\[]{}|§¶†‡•_")


def is_symbol(letter: str) -> bool:
    """Return whether this is a character that a translation can only have from its source, such as `*`, `©` or `>`."""
    if letter in _FREE:
        return False
    return letter in _PUNCTUATION or unicodedata.category(letter) in ("Sm", "So", "Sk")


def without_strays(word: str, source: frozenset[str]) -> str:
    """Return a word of a translation without the symbols that are not among the characters of the source."""
    if word.isalnum():
        return word
    return "".join(letter for letter in word if letter in source or not is_symbol(letter))


def final_marks(words: Sequence[str]) -> str:
    """Return the exclamation and question marks at the end of a sentence as one text, such as `?!`."""
    marks = ""
    for word in reversed(words):
        form = plain(word)
        if not form or form.strip("?!"):
            break
        marks = form + marks
    return marks


_GAP_WITHIN_MARKS = regex.compile(r"(?<=[?!]) +(?=[?!])")
_EMPHASIS = regex.compile(r"(?<!\S)([*_~]{1,3})\s?([^\s*_~](?:[^*_~]*[^\s*_~])?)\s?\1(?!\w)")


def closed_up(line: str) -> str:
    """Return a detokenised line without spaces between its exclamation and question marks: `?!`."""
    return _GAP_WITHIN_MARKS.sub("", line)


def around_emphasis(line: str) -> str:
    """Return a line without spaces between a pair of marks of emphasis and what they enclose: `*very*`."""
    return _EMPHASIS.sub(r"\1\2\1", line) if "*" in line or "~" in line or "_" in line else line


_DOUBLE = {"«": "»", "“": "”"}


def directed(words: Sequence[str]) -> list[str]:
    """Return the words of a translation with opening and closing quotation marks in turn, if their number is even."""
    result = list(words)
    for opening, closing in _DOUBLE.items():
        places = [place for place, word in enumerate(words) if word in (opening, closing)]
        depths, depth = [], 0
        for place in places:
            depth += 1 if words[place] == opening else -1
            depths.append(depth)
        if len(places) % 2 == 0 and (depth != 0 or min(depths, default=0) < 0):
            for number, place in enumerate(places):
                result[place] = closing if number % 2 else opening
    return result
