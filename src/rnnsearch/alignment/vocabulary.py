"""The words of one side of a text: their normalised forms, frequencies, stems and classes."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError, shown

STEM = 4
"""The number of letters of a stem."""
CLASSES = 50
"""The number of most frequent words with a class of their own; all other words are of class 0."""
_MARKS = frozenset((".", "!", "?", "…", "...", ":", ";", ","))
"""Punctuation marks with a common stem, because one mark is often translated by another."""
_SAME = str.maketrans({"’": "'", "‘": "'", "`": "'", "«": '"', "»": '"', "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"})


def normalize(word: str) -> str:
    """Return the form in which a word is counted: in lower case, with unified apostrophes, quotation marks and dashes."""
    return unicodedata.normalize("NFKC", word).translate(_SAME).lower().replace("œ", "oe")


def stem(word: str) -> str:
    """Return the beginning of a word, which its inflected forms share."""
    return "." if word in _MARKS else word[:STEM]


class Words:
    """The numbered word types of one side, and their frequencies in the training text.

    Words of another text may be added; their frequency is zero, and their numbers follow those of the training text.
    """

    def __init__(self, words: Iterable[str] = (), frequencies: NDArray[np.int64] | None = None) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self._written: dict[str, int] = {}  # by the form before normalisation, so that each is normalised once
        self._stems: dict[str, int] = {}
        self._stem_of = array("i")
        for word in words:
            self._add(word)
        self._frequencies = np.zeros(len(self), np.int64) if frequencies is None else frequencies
        self.known = len(self)
        """The number of words of the training text, whose frequencies are known."""

    def __len__(self) -> int:
        return len(self.words)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """The frequency of each word in the training text."""
        return np.append(self._frequencies, np.zeros(len(self) - self.known, np.int64))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The relative frequency of each word among the words of its stem; a new word counts as if it had occurred once."""
        counts = np.maximum(self.frequencies, 1)
        of_stem = np.bincount(self.stems[: self.known], self._frequencies, minlength=len(self._stems))
        return np.asarray(counts / np.maximum(of_stem[self.stems], counts))

    @property
    def stems(self) -> NDArray[np.int32]:
        """The number of each word's stem."""
        return np.array(self._stem_of, np.int32)

    @property
    def stem_count(self) -> int:
        """The number of different stems."""
        return len(self._stems)

    @property
    def classes(self) -> NDArray[np.int32]:
        """The class of each word, on which its jump probabilities depend."""
        # Class 1 is the most frequent word; ties are in the order of the words' numbers.
        frequent = np.argsort(-self._frequencies, kind="stable")[:CLASSES]
        classes = np.zeros(len(self), np.int32)
        classes[frequent] = np.arange(1, len(frequent) + 1)
        return classes

    def ids(self, words: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of these words, which need not be normalised; new words are added.

        Raises RnnsearchError for a word that is no string, or that has a line end, since words are kept as lines.
        """
        for word in words:
            number = self._written.get(word)
            if number is None:
                if not isinstance(word, str) or "\n" in word:
                    raise RnnsearchError(f"{shown(word)} is no word: words are strings without line ends")
                number = self._written[word] = self._add(normalize(word))
            yield number

    def by_stem(self, frequencies: NDArray[np.int64]) -> tuple[Words, NDArray[np.int32]]:
        """Return the words with these frequencies, renumbered so that words of a stem are adjacent, and the new numbers."""
        order = np.argsort(self.stems, kind="stable")
        numbers = np.empty(len(order), np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        return Words((self.words[n] for n in order), frequencies[order]), numbers

    def copy(self) -> Words:
        """Return a copy of the words of the training text, to which the words of another text may be added."""
        return Words(self.words[: self.known], self._frequencies)

    def _add(self, word: str) -> int:
        """Return the number of a normalised word, which is added if it is new."""
        number = self._numbers.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
            beginning = stem(word)
            self._stem_of.append(self._stems.setdefault(beginning, len(self._stems)))
        return number
