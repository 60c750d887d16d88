"""The corpus: as many distinct aligned sentence pairs as are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

from rnnsearch.atomic import write_text

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


def write_corpus(folder: str | os.PathLike[str], *, train: int, valid: int, test: int, seed: int = 1) -> None:
    """Write a corpus into `folder`: for each part `part.en` and `part.fr`, and `part.gold` with the links.

    The texts are plain lines, one sentence a line; the links are those of `AlignedPair.pharaoh`, between the
    Moses tokens of the two lines. No English sentence occurs twice, within a part or across parts.
    """
    stream = _distinct(seed)
    for part, pairs in (("test", test), ("valid", valid), ("train", train)):
        _write_part(Path(folder), part, islice(stream, pairs))


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


def _write_part(folder: Path, part: str, pairs: Iterable[AlignedPair]) -> None:
    source, target, gold = [], [], []
    for pair in pairs:
        source.append(pair.source_text + "\n")
        target.append(pair.target_text + "\n")
        gold.append(pair.pharaoh + "\n")
    write_text(folder / f"{part}.en", "".join(source))
    write_text(folder / f"{part}.fr", "".join(target))
    write_text(folder / f"{part}.gold", "".join(gold))
