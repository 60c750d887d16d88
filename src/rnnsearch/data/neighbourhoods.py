"""A development set of whole neighbourhoods of a text, without near-duplicates of the training pairs.

Translation memories repeat themselves: the segments of a document are adjacent, and the same segment returns with another
number in it. Pairs that are drawn one by one have near-duplicates among the training pairs, so a model translates them
better than new text. Therefore runs of adjacent pairs are held out, except for pairs that are similar to a training pair.
"""

from __future__ import annotations

import heapq
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]

RUN = 10
"""The number of adjacent pairs that are held out together."""
MOST = 1000
"""The largest number of pairs that are held out."""
SIMILAR = 0.6
"""Two sources are similar if they have at least this share of their pairs of adjacent words in common."""
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


def count_to_hold_out(pairs: int) -> int:
    """Return the number of pairs to hold out: a twentieth, but at least 50 if that is no more than a fifth."""
    return min(MOST, max(pairs // 20, min(50, pairs // 5)))


def word_pairs(source: str) -> frozenset[str]:
    """Return the pairs of adjacent words of a sentence, including its ends, without case, numbers and punctuation."""
    words = ["", *_WORD.findall(_DIGITS.sub("0", source.lower())), ""]
    return frozenset(f"{one} {other}" for one, other in pairwise(words))


class Sentences:
    """An index that finds the sentences that are similar to a given one."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._features = [word_pairs(source) for source in sources]
        self._having: dict[str, list[int]] = {}
        for number, features in enumerate(self._features):
            for feature in features:
                self._having.setdefault(feature, []).append(number)

    def similar(self, source: str) -> Iterator[int]:
        """Yield the numbers of the sentences that a sentence is similar to."""
        features = word_pairs(source)
        common = Counter(number for feature in features for number in self._having.get(feature, ()))
        for number, count in common.items():
            if count >= SIMILAR * max(len(features), len(self._features[number])):
                yield number


def neighbourhoods(pairs: Iterable[Pair], seed: int) -> tuple[list[tuple[int, list[Pair]]], int]:
    """Draw runs of adjacent pairs at random, twice as many pairs as are to be held out.

    Returns the runs, each with the number of its first pair, in random order, and the number of pairs to hold out.
    """
    generator = random.Random(seed)
    drawn: list[tuple[float, int, list[Pair]]] = []
    total = 0
    pairs = iter(pairs)
    while run := list(islice(pairs, RUN)):
        heapq.heappush(drawn, (-generator.random(), total, run))
        total += len(run)
        if len(drawn) > 2 * MOST // RUN:
            heapq.heappop(drawn)
    count = count_to_hold_out(total)
    runs = [(first, run) for _, first, run in sorted(drawn, reverse=True)]
    return runs[: -(-2 * count // RUN)], count


def choose_dissimilar(pairs: Iterable[Pair], runs: list[tuple[int, list[Pair]]], count: int) -> list[int]:
    """Choose at most `count` pairs of these runs that are not similar to any other pair of the text.

    `pairs` is the whole text, again. Returns the numbers of the chosen pairs, in order.
    """
    numbers = [first + place for first, run in runs for place in range(len(run))]
    sources = [source for _, run in runs for source, _ in run]
    drawn, candidates = set(numbers), Sentences(sources)
    unfit: set[int] = set()
    for number, (source, _) in enumerate(pairs):
        if number not in drawn:
            unfit.update(candidates.similar(source))
    chosen = [place for place in range(len(sources)) if place not in unfit][:count]
    # The pairs that are not chosen become training pairs, so no chosen pair may be similar to one of them.
    returned = sorted(set(range(len(sources))) - set(chosen))
    while returned:
        similar = {place for other in returned for place in candidates.similar(sources[other])} & set(chosen)
        chosen = [place for place in chosen if place not in similar]
        returned = sorted(similar)
    return sorted(numbers[place] for place in chosen)
