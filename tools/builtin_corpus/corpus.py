"""The corpus: as many distinct aligned sentence pairs as are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from .english import English
from .french import French
from .grammar import Grammar
from .pairs import AlignedPair
from .sandhi import elide
from .syntax import Sentence
from .words import capitalised, link

_LONGEST = 60  # words on either side


def generate(pairs: int, seed: int = 1) -> Iterator[AlignedPair]:
    """Yield `pairs` aligned sentence pairs, no two with the same English sentence.

    The same seed gives the same pairs, and a longer corpus begins with the shorter one.
    """
    return islice(_distinct(seed), pairs)


def realise(tree: Sentence) -> AlignedPair:
    """Speak a tree in both languages. English comes first: it settles what *it* and *they* stand for."""
    source = capitalised(English().sentence(tree))
    target = capitalised(elide(French().sentence(tree)))
    sure, possible = link(source, target)
    return AlignedPair(tuple(word.form for word in source), tuple(word.form for word in target), sure, possible)


def _distinct(seed: int) -> Iterator[AlignedPair]:
    grammar = Grammar(Random(seed))
    seen: set[tuple[str, ...]] = set()
    while True:
        pair = realise(grammar.sentence())
        if len(pair.source) <= _LONGEST and len(pair.target) <= _LONGEST and pair.source not in seen:
            seen.add(pair.source)
            yield pair
