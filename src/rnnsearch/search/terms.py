"""Terms: words that a translation of a sentence has to contain, and how far a hypothesis has got with them.

Beam search would never choose an improbable term: hypotheses without it are more probable. So hypotheses compete only with
those that lack as many words of terms, and these banks share the beam (Post & Vilar 2018). A term begins where the attention
is on its source words, as the attention tells what is translated next (compare Hasler et al. 2018); where it never is, it
begins when the hypothesis would end otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.text.vocabulary import END, UNK


NO_WORD = -1


class Term(NamedTuple):
    """Words that a translation has to contain, one after the other, and the source positions that they translate."""

    words: Sequence[int]
    """Word ids, at least one."""
    start: int
    stop: int


class Progress(NamedTuple):
    """How far a hypothesis has got with the terms, which are numbered; it depends on its words and their attention alone."""

    open: tuple[int, ...]
    """The terms that it does not contain, those that it has just begun included."""
    begun: tuple[int, ...] = ()
    """The open terms that begin with its last `length` words; one of them may be complete."""
    length: int = 0
    written: int = 0
    """The number of words of the hypothesis."""
    placed: tuple[tuple[int, int], ...] = ()
    """The terms that it contains, each with the position of its first word."""


class Terms:
    """The terms of one sentence."""

    def __init__(self, terms: Sequence[Term], continues: Callable[[int], bool] = lambda word: False) -> None:
        """`continues` says whether an id continues the word before it, as a subword may: a term ends where a word ends.

        The first id of a term may not be one that continues.
        """
        self.terms = terms
        self._continues = continues
        self.words = sum(len(term.words) for term in terms)
        """The number of words of all terms together."""
        self.start = Progress(tuple(range(len(terms))))

    def after_prefix(self, prefix: Sequence[int]) -> Progress:
        """The progress of a translation that has just this prefix. An unknown word of it belongs to no term."""
        progress = self.start
        for word in prefix:
            progress = self.after(progress, NO_WORD if word == UNK else word, ())
        return progress

    def missing(self, progress: Progress) -> int:
        """The number of words that are still to be written, so that all terms are there."""
        return self._open_words(progress) - progress.length

    def after(self, progress: Progress, word: int, guided: Collection[int]) -> Progress:
        """The progress of the hypothesis with a further word; `guided` are the terms that may begin here for certain.

        Other terms may begin here too, but not with `[UNK]`: it can stand for any word.
        """
        length, written = progress.length, progress.written + 1
        going_on = tuple(number for number in progress.begun if self._has(number, length, word))
        if going_on:
            return progress._replace(begun=going_on, length=length + 1, written=written)
        progress = self._ended(progress) if not self._continues(word) else progress
        begun = tuple(
            number
            for number in progress.open
            if self.terms[number].words[0] == word and (word != UNK or number in guided)
        )
        return Progress(progress.open, begun, 1 if begun else 0, written, progress.placed)

    def placed(self, progress: Progress) -> tuple[tuple[int, int], ...]:
        """The terms that the hypothesis contains if it ends here, each with the position of its first word."""
        return self._ended(progress).placed

    def offered(self, progress: Progress, guided: Collection[int]) -> list[int]:
        """The words that take a hypothesis further: those that go on with a begun term, or begin one that is `guided`."""
        ended = self._ended(progress)
        if progress.begun and ended is progress:
            words = [self.terms[number].words[progress.length] for number in progress.begun]
        else:
            words = []
            for number in ended.open:
                term = self.terms[number].words
                goes_on = number in progress.begun and progress.length < len(term)
                if number in guided:
                    words.append(term[progress.length if goes_on else 0])
        return list(dict.fromkeys(words))

    def guided(self, progress: Progress, alpha_S: NDArray[np.float32] | None) -> Collection[int]:
        """The open terms whose source words have the attention; all of them without an alignment model."""
        if alpha_S is None:
            return progress.open
        highest = alpha_S.max()
        return [number for number in progress.open if self._attention(number, alpha_S) >= highest]

    def missing_after(self, progress: Progress, words: Iterable[int], guided: Collection[int]) -> list[int]:
        """`missing` for the hypothesis with each of these further words; −1 for the end symbol where a word is missing."""
        of_terms = {self.terms[number].words[0] for number in progress.open}
        of_terms.update(
            self.terms[number].words[progress.length]
            for number in progress.begun
            if progress.length < len(self.terms[number].words)
        )
        missing, abandoned = self.missing(progress), self._open_words(progress)
        otherwise = self._open_words(self._ended(progress))
        found = []
        for word in words:
            if word == END:
                found.append(-1 if missing else 0)
            elif word in of_terms:
                found.append(self.missing(self.after(progress, word, guided)))
            else:
                found.append(abandoned if progress.begun and self._continues(word) else otherwise)
        return found

    def _ended(self, progress: Progress) -> Progress:
        """The progress once the word after it begins a new one: a complete term is then there."""
        for number in progress.begun:
            if len(self.terms[number].words) == progress.length:
                rest = tuple(other for other in progress.open if other != number)
                placed = (*progress.placed, (number, progress.written - progress.length))
                return Progress(rest, (), 0, progress.written, placed)
        return progress

    def _has(self, number: int, place: int, word: int) -> bool:
        words = self.terms[number].words
        return place < len(words) and words[place] == word

    def _open_words(self, progress: Progress) -> int:
        return sum(len(self.terms[number].words) for number in progress.open)

    def _attention(self, number: int, alpha_S: NDArray[np.float32]) -> float:
        """The attention that the source words of a term have."""
        return float(alpha_S[self.terms[number].start : self.terms[number].stop].sum())
