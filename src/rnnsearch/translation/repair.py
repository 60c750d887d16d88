"""Segments of a translation memory that differ from a text in one word: the word is exchanged in their translations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rnnsearch.text.spans import spans
from rnnsearch.translation.translation import Aligned

SURE = 0.8
"""The least probability of a link between words that are exchanged."""
LEAST_SCORE = 75.0
"""The least similarity, in percent, of a segment in which a word is exchanged."""
_WORD = re.compile(r"\w+|[^\w\s]")


def may_be_repaired(segment: str, text: str) -> bool:
    """Whether a segment differs from a text in one word, as far as one sees without a model."""
    return _change(_WORD.findall(segment), _WORD.findall(text)) is not None


def repaired(target: str, segment: Aligned, text: Aligned) -> str | None:
    """Return the translation of a text that differs from a segment in one word, from `target`, that of the segment.

    `segment` is the segment aligned with its translation, and `text` is the text with that of the model, from which the
    translation of the new word is taken. It is None unless it is clear which word of each translation is that of the word
    that differs: either has one link, with a probability of `SURE` or more, and no other word is linked to it. Both words
    of the translations have to stand between the same words, so that what depends on them, such as articles, remains right.
    """
    place = _change(segment.source_tokens[:-1], text.source_tokens[:-1])
    old, new = (None if place is None else _counterpart(one, place) for one in (segment, text))
    places = spans(segment.tokens, target)
    if old is None or new is None or places is None or _between(segment.tokens, old) != _between(text.tokens, new):
        return None
    start, stop = places[old]
    return target[:start] + text.tokens[new] + target[stop:]


def _change(words: Sequence[str], others: Sequence[str]) -> int | None:
    """Return the place of the only word that differs; None if there are more, or if it is not of letters on both sides."""
    if len(words) != len(others):
        return None
    places = [place for place, (one, other) in enumerate(zip(words, others, strict=True)) if one != other]
    if len(places) != 1 or not (words[places[0]].isalpha() and others[places[0]].isalpha()):
        return None
    return places[0]


def _counterpart(pair: Aligned, place: int) -> int | None:
    """Return the place of the only target word that is linked to a source word and to no other; None if it is not sure."""
    if pair.link_probabilities is None or pair.links is None:
        return None
    linked = [target for source, target in pair.links if source == place]
    if len(linked) != 1 or sum(target == linked[0] for _, target in pair.links) > 1:
        return None
    sure = pair.link_probabilities[linked[0], place] >= SURE and pair.tokens[linked[0]].isalpha()
    return linked[0] if sure else None


def _between(words: Sequence[str], place: int) -> tuple[str, str]:
    """Return the words before and after one; empty at the ends."""
    around = ["", *(word.casefold() for word in words), ""]
    return around[place], around[place + 2]
