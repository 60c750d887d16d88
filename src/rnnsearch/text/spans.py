"""Where words stand in the running text that they were cut from, or that was written from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rnnsearch.text.tokenize import is_invisible

Span = tuple[int, int]
"""The first character of a word, and the one after its last."""


def spans(words: Sequence[str], line: str) -> list[Span] | None:
    """The place of each word in `line`, in characters (Unicode code points), in order.

    Tokenising and detokenising move white space and invisible characters, turn quotation marks and change case; every other
    character stays where it is. None if that is not all that distinguishes the line from the words.
    """
    if "".join(words) == line:  # as characters are; white space is among them
        ends = list(accumulate(map(len, words)))
        return list(zip([0, *ends], ends, strict=False))
    places = [place for place, letter in enumerate(line) if not (letter.isspace() or is_invisible(letter))]
    found: list[Span] = []
    first = 0
    for word in words:
        own = places[first : first + len(word)]
        if not own or len(own) < len(word) or not all(map(_same, word, (line[place] for place in own))):
            return None
        found.append((own[0], own[-1] + 1))
        first += len(word)
    return found if first == len(places) else None


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
