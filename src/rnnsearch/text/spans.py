"""The positions of words in the line that they were tokenised from, or that was detokenised from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rnnsearch.text.normalization import parts
from rnnsearch.text.tokenize import is_invisible

_ZERO_WIDTH_SPACE = "\u200b"
Span = tuple[int, int]
"""The index of the first character of a word, and that after its last character."""


def spans(words: Sequence[str], line: str) -> list[Span] | None:
    """Return the span of each word in `line`, in characters (Unicode code points), or None if the words are not in it.

    The line may differ from the words in the position of white space and invisible characters, in the kind of quotation
    marks and in case, which tokenising and detokenising change, and either may have the plain form of the other
    (`rnnsearch.text.normalization`). All other characters must be the same, in the same order.
    """
    if "".join(words) == line:  # units such as characters, which include white space
        ends = list(accumulate(map(len, words)))
        return list(zip([0, *ends], ends, strict=False))
    visible = [(letter, (i, i + 1)) for i, letter in enumerate(line) if not _is_blank(letter)]
    word_spans = _matched(words, visible)
    if word_spans is None:
        word_spans = _matched(["".join(form for form, _ in _plain_letters(word)) for word in words], _plain_letters(line))
    return word_spans


def _matched(words: Sequence[str], letters: Sequence[tuple[str, Span]]) -> list[Span] | None:
    """Return the span of each word, or None if the words are not these letters; `letters` holds letters and their spans."""
    word_spans: list[Span] = []
    first = end = 0
    for word in words:
        own = letters[first : first + len(word)]
        if not own or len(own) < len(word) or not all(map(_same, word, (letter for letter, _ in own))):
            return None
        # A character that stands for letters of two words, such as a ligature, belongs to the first of them.
        word_spans.append((max(end, own[0][1][0]), own[-1][1][1]))
        first, end = first + len(word), word_spans[-1][1]
    return word_spans if first == len(letters) else None


def _plain_letters(text: str) -> list[tuple[str, Span]]:
    """Return the visible letters of the plain form of a text, each with the span of the original characters."""
    visible = [(i, " " if letter == _ZERO_WIDTH_SPACE else letter) for i, letter in enumerate(text)]
    visible = [(i, letter) for i, letter in visible if letter == " " or not is_invisible(letter)]
    letters: list[tuple[str, Span]] = []
    start = 0
    for written, form in parts("".join(letter for _, letter in visible)):
        stop = start + len(written)
        if not written.isspace():
            letters += [(letter, (visible[start][0], visible[stop - 1][0] + 1)) for letter in form]
        start = stop
    return letters


def _is_blank(letter: str) -> bool:
    return letter.isspace() or is_invisible(letter)


def pieces(words: Sequence[str], line: str) -> list[tuple[str, str]]:
    """Return for each word the text of `line` before it and its own text in `line`; text after the last word is left out.

    If the words are not in the line (see `spans`), they are separated by single spaces instead.
    """
    if "".join(words) != line:
        line = line.strip()
    word_spans = spans(words, line)
    if word_spans is None:
        return [(" " if i else "", word) for i, word in enumerate(words)]
    ends = [0, *(end for _, end in word_spans)]
    return [(line[end:start], line[start:stop]) for end, (start, stop) in zip(ends, word_spans, strict=False)]


def _same(letter: str, other: str) -> bool:
    """Whether two characters are the same letter or digit, regardless of case, or both are punctuation."""
    return letter.casefold() == other.casefold() or not (letter.isalnum() or other.isalnum())
