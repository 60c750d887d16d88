"""Where words stand in the running text that they were cut from, or that was written from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rnnsearch.text.normalization import parts
from rnnsearch.text.tokenize import is_invisible

_ZERO_WIDTH_SPACE = "\u200b"
Span = tuple[int, int]
"""The first character of a word, and the one after its last."""


def spans(words: Sequence[str], line: str) -> list[Span] | None:
    """The place of each word in `line`, in characters (Unicode code points), in order.

    Tokenising and detokenising move white space and invisible characters, turn quotation marks and change case, and either
    may have the plain form of what the other has (`rnnsearch.text.normalization`); every other character stays where it is.
    None if that is not all that distinguishes the line from the words.
    """
    if "".join(words) == line:  # as characters are; white space is among them
        ends = list(accumulate(map(len, words)))
        return list(zip([0, *ends], ends, strict=False))
    visible = [(letter, (place, place + 1)) for place, letter in enumerate(line) if not _is_blank(letter)]
    found = _found(words, visible)
    if found is None:
        found = _found(["".join(form for form, _ in _plain_letters(word)) for word in words], _plain_letters(line))
    return found


def _found(words: Sequence[str], letters: Sequence[tuple[str, Span]]) -> list[Span] | None:
    """The place of each word, given the visible letters of the line and their places."""
    found: list[Span] = []
    first = end = 0
    for word in words:
        own = letters[first : first + len(word)]
        if not own or len(own) < len(word) or not all(map(_same, word, (letter for letter, _ in own))):
            return None
        # What is written as one, but stands for letters of two words, is a part of the first.
        found.append((max(end, own[0][1][0]), own[-1][1][1]))
        first, end = first + len(word), found[-1][1]
    return found if first == len(letters) else None


def _plain_letters(text: str) -> list[tuple[str, Span]]:
    """The visible letters of the plain form of a text, and the places of what they stand for."""
    seen = [(place, " " if letter == _ZERO_WIDTH_SPACE else letter) for place, letter in enumerate(text)]
    seen = [(place, letter) for place, letter in seen if letter == " " or not is_invisible(letter)]
    found: list[tuple[str, Span]] = []
    start = 0
    for written, form in parts("".join(letter for _, letter in seen)):
        stop = start + len(written)
        if not written.isspace():
            found += [(letter, (seen[start][0], seen[stop - 1][0] + 1)) for letter in form]
        start = stop
    return found


def _is_blank(letter: str) -> bool:
    return letter.isspace() or is_invisible(letter)


def pieces(words: Sequence[str], line: str) -> list[tuple[str, str]]:
    """The words as they stand in `line`: (what is before the word, the word), without what is after the last one.

    Where they do not stand there (see `spans`), they are joined by single spaces instead.
    """
    if "".join(words) != line:
        line = line.strip()
    places = spans(words, line)
    if places is None:
        return [(" " if i else "", word) for i, word in enumerate(words)]
    ends = [0, *(end for _, end in places)]
    return [(line[end:start], line[start:stop]) for end, (start, stop) in zip(ends, places, strict=False)]


def _same(letter: str, other: str) -> bool:
    """Whether it is the same letter or digit, in either case, or punctuation on both sides."""
    return letter.casefold() == other.casefold() or not (letter.isalnum() or other.isalnum())
