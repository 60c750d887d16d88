"""Words that remember what they say, so that the alignment of two sentences follows from their trees.

Both languages are spoken from one tree. Every word carries *tags*: (node, role) pairs that name the piece of
the tree it expresses. Two words that share a tag translate each other: surely if both express it outright,
possibly if one of them only helps (an auxiliary, an article the other language does without).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Tag = tuple[object, object]
Link = tuple[int, int]


class Word(NamedTuple):
    """One token and the tags it expresses (`sure`) or helps to express (`possible`)."""

    form: str
    sure: tuple[Tag, ...]
    possible: tuple[Tag, ...] = ()


def merge(form: str, first: Word, second: Word) -> Word:
    """One word standing for two, as `du` does for `de` and `le`: it inherits the tags of both."""
    return Word(form, first.sure + second.sure, first.possible + second.possible)


def doubtful(form: str, *tags: Tag) -> Word:
    """A word that only helps: all its tags are possible."""
    return Word(form, (), tags)


def capitalised(words: Sequence[Word]) -> list[Word]:
    """The sentence with a capital on its first word, as both languages write it."""
    first = words[0]
    return [Word(first.form[0].upper() + first.form[1:], first.sure, first.possible), *words[1:]]


def link(source: Iterable[Word], target: Iterable[Word]) -> tuple[frozenset[Link], frozenset[Link]]:
    """The (sure, possible) links between two sentences spoken from one tree; sure is a subset of possible."""
    says: dict[Tag, list[int]] = {}
    helps: dict[Tag, list[int]] = {}
    for i, word in enumerate(source):
        for tag in word.sure:
            says.setdefault(tag, []).append(i)
        for tag in word.possible:
            helps.setdefault(tag, []).append(i)
    sure: set[Link] = set()
    possible: set[Link] = set()
    for j, word in enumerate(target):
        for tag in word.sure:
            sure.update((i, j) for i in says.get(tag, ()))
            possible.update((i, j) for i in helps.get(tag, ()))
        for tag in word.possible:
            possible.update((i, j) for i in says.get(tag, ()))
            possible.update((i, j) for i in helps.get(tag, ()))
    return frozenset(sure), frozenset(sure | possible)
