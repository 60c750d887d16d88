"""The conversion of words in capitals to the case that a model knows: lower case, or the spelling of a name.

A model has seen few sentences in capitals. It therefore reads words in capitals in the spelling that is most frequent in its
vocabulary, and the words of the translation that are linked to them are written in capitals again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Cost = Callable[[str], float]
"""A function that tells how unusual a word is in a vocabulary; the most usual spelling has the lowest cost."""

_LONG = 4
"""A single word in capitals with fewer letters than this counts as an abbreviation, such as `USA`, and is not changed."""
_LEAST = 4
"""A headline has at least so many words."""
_SHARE = 0.6
"""The least share of the words of a headline that begin with capitals."""
_MUCH = 0.7
"""The largest ratio of the costs of two spellings of which one is much more usual."""


def in_capitals(word: str) -> bool:
    """Return whether a word has upper-case letters and no lower-case ones."""
    return word.isupper() and not word.islower()


def without_capitals(words: Sequence[str], cost: Cost) -> tuple[list[str], list[bool]]:
    """Return the words of a sentence without emphasis by capitals, and for each whether it was changed.

    In a line that is all in capitals, every word gets its most frequent spelling in the vocabulary. In other lines, a word
    changes only if it has more than one letter and another spelling of it is more frequent.
    """
    result = list(words)
    changed = [False] * len(words)
    capitals = [word for word in words if in_capitals(word)]
    if not capitals:
        return result, changed
    all_capitals = not any(map(_has_small, words)) and (len(capitals) > 1 or len(capitals[0]) >= _LONG)
    for place, word in enumerate(words):
        if in_capitals(word) and (all_capitals or sum(map(str.isalpha, word)) > 1):
            usual = min((word.lower(), word.capitalize(), word), key=cost)
            if usual != word and (all_capitals or sum(map(str.isalpha, word)) >= _LONG or _beside(words, place)):
                result[place], changed[place] = usual, True
    if all_capitals and not any(changed):
        return list(words), changed
    first = next(place for place, word in enumerate(result) if any(map(str.isalpha, word)))
    if changed[first]:
        result[first] = result[first][0].upper() + result[first][1:]
    return result, [all_capitals] * len(words) if all_capitals else changed


def without_title_case(words: Sequence[str], cost: Cost) -> list[str]:
    """Return the words of a headline `In Which All Words Begin With Capitals` as a sentence has them.

    A word keeps its capital unless it is much more usual in the vocabulary without it: names are rare in both spellings.
    """
    places = [place for place, word in enumerate(words) if any(map(str.isalpha, word))]
    long = [words[place] for place in places if len(words[place]) >= _LONG]
    capital = sum(words[place][0].isupper() for place in places)
    if len(places) < _LEAST or capital < _SHARE * len(places) or words[-1] == ".":
        return list(words)
    if len(long) < _LEAST - 1 or not all(word[0].isupper() and word[1:].islower() for word in long):
        return list(words)
    result = list(words)
    for place in places[1:]:
        word = words[place]
        small = word.lower()
        if word.istitle() and cost(small) <= _MUCH * cost(word):
            result[place] = small
    return result


def _has_small(word: str) -> bool:
    return any(map(str.islower, word))


def _beside(words: Sequence[str], place: int) -> bool:
    """Return whether a neighbour is also a word in capitals."""
    return any(0 <= at < len(words) and in_capitals(words[at]) for at in (place - 1, place + 1))
