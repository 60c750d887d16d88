"""Words in capitals, as a model knows them: small letters, or the spelling of a name.

A model has seen few sentences in capitals. Words that are written in capitals are given to it as it knows them best, and the
words of the translation that are linked to them are written in capitals again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Cost = Callable[[str], float]
"""How unusual a word is to a vocabulary, less is more usual."""

_LONG = 4
"""A line of one word in capitals is no abbreviation if it has so many letters, unless the vocabulary knows it as one."""


def in_capitals(word: str) -> bool:
    """Whether a word has letters that differ from small ones, and no small ones."""
    return word.isupper() and not word.islower()


def without_capitals(words: Sequence[str], cost: Cost) -> tuple[list[str], list[bool]]:
    """The words of a sentence as they are written where nothing is emphasised, and which of them have been changed.

    In a line that is all in capitals, every word is written as the vocabulary has it most often. In other lines, only words
    of which the vocabulary has another spelling more often, and that are no single letters, are changed.
    """
    found = list(words)
    changed = [False] * len(words)
    capitals = [word for word in words if in_capitals(word)]
    if not capitals:
        return found, changed
    all_capitals = not any(map(_has_small, words)) and (len(capitals) > 1 or len(capitals[0]) >= _LONG)
    for place, word in enumerate(words):
        if in_capitals(word) and (all_capitals or sum(map(str.isalpha, word)) > 1):
            usual = min((word.lower(), word.capitalize(), word), key=cost)
            if usual != word and (all_capitals or sum(map(str.isalpha, word)) >= _LONG or _beside(words, place)):
                found[place], changed[place] = usual, True
    if all_capitals and not any(changed):
        return list(words), changed
    first = next(place for place, word in enumerate(found) if any(map(str.isalpha, word)))
    if changed[first]:
        found[first] = found[first][0].upper() + found[first][1:]
    return found, [all_capitals] * len(words) if all_capitals else changed


def _has_small(word: str) -> bool:
    return any(map(str.islower, word))


def _beside(words: Sequence[str], place: int) -> bool:
    """Whether a neighbour is a word in capitals, too."""
    return any(0 <= at < len(words) and in_capitals(words[at]) for at in (place - 1, place + 1))
