"""Links in the positions of subwords, for the guided alignment of models with subwords.

The subwords are given as a text, with a line of subwords for each line of words, by any of the usual segmenters: `▁` marks
the beginning of a word (sentencepiece), `@@` that a word goes on (subword-nmt), `##` that a subword continues a word
(WordPiece), and `￭` that a subword is joined to its neighbour (OpenNMT).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import product

from rnnsearch.data.word_alignments import Links
from rnnsearch.errors import RnnsearchError, shown

_MARKS = re.compile(r"▁|￭|@@$|^##(?=.)")


def segments(words: Sequence[str], subwords: Sequence[str]) -> list[list[int]]:
    """Return for each word the positions of the subwords that have letters of it.

    Raises RnnsearchError unless the letters of the subwords are those of the words, up to compatibility (NFKC) and case. A
    subword may have letters of several words, which are tokens then.
    """
    parts = [_letters(_MARKS.sub("", subword)) for subword in subwords]
    letters = list(map(_letters, words))
    if "".join(parts) != "".join(letters):
        raise RnnsearchError(f"the subwords {shown(' '.join(subwords))} are not those of {shown(' '.join(words))}")
    owners = [number for number, word in enumerate(letters) for _ in word]
    of_words: list[list[int]] = [[] for _ in words]
    place = 0
    for position, part in enumerate(parts):
        for owner in dict.fromkeys(owners[place : place + len(part)]):
            of_words[owner].append(position)
        place += len(part)
    return of_words


def spread(links: Iterable[tuple[int, int]], source: Sequence[Sequence[int]], target: Sequence[Sequence[int]]) -> Links:
    """Return the links between all subwords of linked words; `source` and `target` are the `segments` of each side."""
    return frozenset(link for i, j in links for link in product(source[i], target[j]))


def _letters(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace(" ", "")
