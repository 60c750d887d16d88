"""The words of a sentence and of its translation, and the elements that the translation has as they stand.

Such elements are names, keys and code, for instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rnnsearch.data.word_alignments import Links
from rnnsearch.text.spans import Span

_MOST_EQUAL = 20
"""The largest number of places at which the words of an element are searched for."""
_SHORT = 3
"""A word of at most so many small letters may be another word in the other language, such as `on` in English and French."""


_PUNCTUATION = frozenset(".,;:!?…()[]{}\"'«»“”„‘’–—")


class Words(NamedTuple):
    """The words of an element: the position of the first one in the sentence, and that after the last one."""

    first: int
    stop: int
    verbatim: bool
    """Whether the element is not translated."""


class Side(NamedTuple):
    """The words of a text; a full stop at the end of a word, as in `etc.`, is a word by itself."""

    words: list[str]
    spans: list[Span]
    tokens: list[int]
    """The number of the token that each word is part of."""

    @classmethod
    def of(cls, tokens: Sequence[str], spans: Sequence[Span]) -> Side:
        """Divide tokens with these spans into words."""
        side = cls([], [], [])
        for number, (token, (start, stop)) in enumerate(zip(tokens, spans, strict=True)):
            divided = len(token) > 1 and token.endswith(".") and token[-2].isalnum() and stop - start > 1
            parts = [(token[:-1], (start, stop - 1)), (".", (stop - 1, stop))] if divided else [(token, (start, stop))]
            for word, span in parts:
                side.words.append(word)
                side.spans.append(span)
                side.tokens.append(number)
        return side


def between(source: Side, target: Side, links: Links) -> Links:
    """Return links of tokens as links of their words."""
    words: list[dict[int, list[int]]] = [{}, {}]
    for side, its in zip((source, target), words, strict=True):
        for place, token in enumerate(side.tokens):
            its.setdefault(token, []).append(place)
    return frozenset((one, other) for origin, place in links for one in words[0][origin] for other in words[1][place])


def is_mark(word: str) -> bool:
    """Return whether a word is a punctuation mark."""
    return _PUNCTUATION.issuperset(word)


def copies(source: Sequence[str], target: Sequence[str], links: Links, elements: Iterable[Words]) -> dict[int, int]:
    """Return the source word of each word of the translation that is part of a copy of an element.

    The words of an element are copied if the translation has them as often as the source, or as often as the elements of the
    source. Those with the same words are in the same order in the translation. Short words that may be other words in the
    other language are copied only if they are linked.
    """
    by_words: dict[tuple[str, ...], dict[int, bool]] = {}
    for first, stop, verbatim in elements:
        own = by_words.setdefault(tuple(source[first:stop]), {})
        own[first] = verbatim or own.get(first, False)
    places = [_places_by_word(side) for side in (source, target)]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for words, own in sorted(by_words.items(), key=lambda item: -len(item[0])):
        ours, theirs = (
            [start for start in _occurrences(words, side, its) if not used.intersection(range(start, start + len(words)))]
            for side, its, used in ((source, places[0], taken), (target, places[1], set(found)))
        )
        elements_left = [start for start in ours if start in own]
        if len(theirs) not in (len(elements_left), len(ours)):
            continue
        starts = elements_left if len(theirs) == len(elements_left) else ours
        for start, copy in zip(starts, theirs, strict=True):
            pairs = [(start + n, copy + n) for n in range(len(words))]
            if start in own and (own[start] or _is_telling(words) or links.issuperset(pairs)):
                found.update((place, origin) for origin, place in pairs)
                taken.update(origin for origin, _ in pairs)
    return found


def _is_telling(words: Sequence[str]) -> bool:
    """Return whether these words are hardly other words in another language."""
    text = "".join(words)
    return len(text) > _SHORT or not text.islower()


def _places_by_word(words: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return places


def _occurrences(words: tuple[str, ...], text: Sequence[str], places: dict[str, list[int]]) -> list[int]:
    """Return the positions in a text at which these words begin; none if the first one is at too many positions."""
    starts = places.get(words[0], [])
    if len(starts) > _MOST_EQUAL:
        return []
    return [start for start in starts if tuple(text[start : start + len(words)]) == words]
