"""The segments of a long line, which are translated one by one."""

from __future__ import annotations

from collections.abc import Iterator

from rnnsearch.text import Vocabulary

SUBWORDS_A_WORD = 4
"""The largest number of subwords of a segment, as a multiple of its largest number of words."""


def split_line(tokens: list[str], longest: int, vocabulary: Vocabulary | None = None) -> list[list[str]]:
    """Split a line into segments of at most `longest` tokens.

    A segment ends after the last end of a sentence in its second half, or else after the last end of a clause there, or else
    after `longest` tokens. With a vocabulary of subwords, a segment has at most `SUBWORDS_A_WORD` × `longest` subwords; only
    text that consists of names, numbers or random characters reaches this limit.
    """
    segments = []
    while len(tokens) > longest:
        end = longest
        seen = vocabulary.seen(tokens[:longest]) if vocabulary else tokens
        for marks in (".?!…", ";:,"):
            ends = [i + 1 for i in range(longest // 2, longest) if seen[i] in marks]
            if ends:
                end = ends[-1]
                break
        segments.append(tokens[:end])
        tokens = tokens[end:]
    segments = [*segments, tokens] if tokens else segments
    if vocabulary is None or vocabulary.subwords is None:
        return segments
    return [part for segment in segments for part in _by_subwords(segment, SUBWORDS_A_WORD * longest, vocabulary)]


def _by_subwords(tokens: list[str], most: int, vocabulary: Vocabulary) -> Iterator[list[str]]:
    """Yield the tokens in segments of at most `most` subwords, or of a single token that has more."""
    first = count = 0
    for place, token in enumerate(tokens):
        size = len(vocabulary.segment([token]))
        if place > first and count + size > most:
            yield tokens[first:place]
            first, count = place, 0
        count += size
    yield tokens[first:]
