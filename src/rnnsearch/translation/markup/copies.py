"""Elements whose words the translation has as they stand, such as names, keys and code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_MOST_EQUAL = 20
"""The largest number of places at which the words of an element are searched for."""
_SHORT = 3
"""A word of at most so many small letters may be another word in the other language, such as `on` in English and French."""


class Words(NamedTuple):
    """The words of an element: the position of the first one in the sentence, and that after the last one."""

    first: int
    stop: int
    verbatim: bool
    """Whether the element is not translated."""


def copies(source: Sequence[str], target: Sequence[str], elements: Iterable[Words]) -> dict[int, int]:
    """Return the source word of each word of the translation that is part of a copy of an element.

    The words of an element are copied if the translation has them as often as the elements of the source. Elements with the
    same words are in the same order in the translation. If they are not verbatim, the source has these words nowhere else.
    """
    by_words: dict[tuple[str, ...], list[Words]] = {}
    for element in elements:
        by_words.setdefault(tuple(source[element.first : element.stop]), []).append(element)
    places = [_places_by_word(side) for side in (source, target)]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for words, same in sorted(by_words.items(), key=lambda item: -len(item[0])):
        in_source, in_target = (_occurrences(words, side, its) for side, its in zip((source, target), places, strict=True))
        own = sorted({element.first for element in same})
        is_verbatim = all(element.verbatim for element in same)
        if len(in_target) != len(own) or not (is_verbatim or (in_source == own and _is_telling(words))):
            continue
        for start, copy in zip(own, in_target, strict=True):
            if not any(copy + n in found or start + n in taken for n in range(len(words))):
                found.update((copy + n, start + n) for n in range(len(words)))
                taken.update(range(start, start + len(words)))
    return found


def _is_telling(words: Sequence[str]) -> bool:
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
