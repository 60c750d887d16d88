"""The conversion of links between words to links between subwords, for guided alignment in models with subwords.

The subwords are lines of text that correspond to the lines of words. They may come from any common segmenter: `▁` marks the
beginning of a word (sentencepiece), `@@` a word that continues (subword-nmt), `##` a subword that continues a word
(WordPiece), and `￭` a subword that is joined to its neighbour (OpenNMT).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import product

from rnnsearch.data.word_alignments import Links
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.tokenize import is_invisible

_MARKS = re.compile(r"▁|￭|@@$|^##(?=.)")


def segments(words: Sequence[str], subwords: Sequence[str]) -> list[list[int]]:
    """Return for each word the positions of the subwords that contain letters of it.

    A subword may contain letters of several words, if these are tokens. Raises RnnsearchError unless words and subwords have
    the same letters, apart from case, compatibility forms (NFKC), and invisible characters, which some segmenters leave out.
    """
    parts = [_letters(_MARKS.sub("", subword)) for subword in subwords]
    letters = list(map(_letters, words))
    if "".join(parts) != "".join(letters):
        raise RnnsearchError(f"the subwords {shown(' '.join(subwords))} are not those of {shown(' '.join(words))}")
    # The word of each letter; the letters of a subword are the next ones of the sentence.
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
    """Return the text in the form in which words and subwords are compared: without what segmenters leave out."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter for letter in text if letter != " " and not is_invisible(letter))
