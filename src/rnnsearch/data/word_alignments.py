"""Word alignments as sets of links: gold alignments, which are read from files, and hard alignments from attention.

A link is a pair (source position, target position), counted from 0. Annotators mark a link as *sure*, or as *possible* if
they could also have left it out; every sure link is possible too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rnnsearch.data.lines import read_lines
from rnnsearch.errors import RnnsearchError, shown

Links: TypeAlias = frozenset[tuple[int, int]]
Symmetry: TypeAlias = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

_WAYS: tuple[Symmetry, ...] = get_args(Symmetry)
_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")
_PHARAOH = re.compile(r"([0-9]{1,8})-([0-9]{1,8})")
_HARDLY_READ = 0.1
"""The ε of `linked_sources`, in units of one target word's attention; it was chosen on development sentences."""
_SENTENCE_NUMBER = re.compile(r"^[0-9]+(\t|\s*$)")


@dataclass(frozen=True)
class GoldLinks:
    """The links that annotators drew for one sentence pair."""

    sure: Links
    possible: Links
    """All sure links, and the links that are only possible."""


def parse_gold(line: str, *, reverse: bool = False) -> GoldLinks:
    """Parse one line of gold links such as `0-0 1p2`, where `-` marks a sure link and `p` a possible one.

    The line may begin with a sentence number and a tab, and may have no links. `reverse` swaps the two sides, for files
    whose links are target–source. Raises RnnsearchError for any other format.
    """
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for word in _SENTENCE_NUMBER.sub("", line).split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise RnnsearchError(f"'{word}' is not an alignment link; write 0-0 for a sure one, 0p0 for a possible one")
        link = (int(match[1]), int(match[3]))
        if reverse:
            link = link[::-1]
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str | os.PathLike[str], *, reverse: bool = False) -> list[GoldLinks]:
    """Read a file of gold links with one sentence pair on each line (see `parse_gold`); errors name file and line."""
    gold = []
    for number, line in enumerate(read_lines(Path(path)), start=1):
        try:
            gold.append(parse_gold(line, reverse=reverse))
        except RnnsearchError as error:
            raise RnnsearchError(f"{os.fspath(path)}:{number}: {error}") from None
    return gold


def linked_sources(alignment: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return for each target word i the source word j that maximises α_ij / (Σ_k α_kj + ε).

    This is the source word that gives the greatest share of all the attention that it receives to target word i.

    `alignment` is target words × source words, with the end symbol of the source in the last column; the result is one
    source position for each target word. The source word with the greatest weight α_ij would be a poor choice: the article
    *les* attends as much to *cows*, whose gender and number determine it, as to *the*. But most of the attention that
    *cows* receives comes from *vaches*, and all that *the* receives comes from *les*, so that weights relative to these
    totals link *les* to *the*. ε keeps source words that receive hardly any attention from being linked. The end symbol is
    not a word, and is never linked.
    """
    words = alignment[:, :-1]
    if words.shape[1] == 0:
        raise ValueError("a sentence of no source words has no links")
    return np.asarray((words / (words.sum(axis=0) + _HARDLY_READ)).argmax(axis=1), np.intp)


def hard_alignment(alignment: NDArray[np.floating]) -> Links:
    """Return the hard alignment: each target word is linked to its source word (`linked_sources`).

    `alignment` has the shape described there; if a side is empty, there are no links.
    """
    if alignment[:, :-1].size == 0:
        return frozenset()
    return frozenset((int(source), target) for target, source in enumerate(linked_sources(alignment)))


def symmetrize(forward: Links, backward: Links, how: Symmetry) -> Links:
    """Combine the links of the source-to-target direction with those of the target-to-source direction.

    All links are (source, target), in `backward` too. `intersection` keeps the links that are in both sets, `union` those in
    either. `grow-diag` (Koehn et al. 2005) begins with the intersection and adds a link of the union if it is next to a link
    of the result, horizontally, vertically or diagonally, and if one of its words has no link yet. `grow-diag-final` then
    adds all links of a word that has no link yet, those of `forward` first, and `grow-diag-final-and` only links between two
    words of which neither has one. Raises RnnsearchError for any other way.
    """
    if how not in _WAYS:
        raise RnnsearchError(f"{shown(how)} is no way to combine links; choose {', '.join(_WAYS[:-1])} or {_WAYS[-1]}")
    if how == "union":
        return forward | backward
    links = set(forward & backward)
    if how == "intersection":
        return frozenset(links)
    sources, targets = ({link[side] for link in links} for side in (0, 1))

    def add(source: int, target: int) -> None:
        links.add((source, target))
        sources.add(source)
        targets.add(target)

    either = sorted(forward | backward)
    grown = True
    while grown:
        grown = False
        for source, target in either:
            free = (source, target) not in links and (source not in sources or target not in targets)
            if free and any((source + i, target + j) in links for i in (-1, 0, 1) for j in (-1, 0, 1)):
                add(source, target)
                grown = True
    if how != "grow-diag":
        enough = any if how == "grow-diag-final" else all
        for source, target in (*sorted(forward), *sorted(backward)):
            if (source, target) not in links and enough((source not in sources, target not in targets)):
                add(source, target)
    return frozenset(links)


def parse_pharaoh(line: str) -> list[tuple[int, int]]:
    """Parse the links of a line in the Pharaoh format (`0-0 1-2`), in their order.

    What precedes the last ` ||| ` is left out, as in the output of fast_align with scores. Raises RnnsearchError for what is
    no link.
    """
    words = line.rpartition(" ||| ")[2].split()
    matches = [_PHARAOH.fullmatch(word) for word in words]
    if None in matches:
        raise RnnsearchError(f"{shown(words[matches.index(None)])} is not a link; write links as 0-0 1-2")
    return [(int(match[1]), int(match[2])) for match in matches if match]


def to_pharaoh(links: Iterable[tuple[int, int]]) -> str:
    """Return links in the Pharaoh format (`0-0 1-2`), sorted by source position, then by target position."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))
