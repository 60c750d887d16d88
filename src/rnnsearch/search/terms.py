"""Terms: words that the translations of a sentence must contain, and the progress of hypotheses with them.

The attention shows which source words are being translated. A term begins when the attention is on its source words (compare
Hasler et al. 2018), and a hypothesis that has attended to them for other words ranks lower. Because a term can be
improbable, hypotheses compete only with those that lack equally many words of terms; these banks share the beam (Post &
Vilar 2018). If the attention never reaches the source words of a term, the term begins where the hypothesis would otherwise
end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.text.vocabulary import END, UNK

ASTRAY = 0.9
"""The threshold for attention on a term's source words while other words are written. It is nearly the total attention of
one word; beyond it, the source words count as translated by those other words."""
DOUBLED = 6.0
"""The penalty, in nats, for each term whose source words are also translated by other words."""
_NO_WORD = -1


class Term(NamedTuple):
    """Adjacent words that a translation must contain, and the source positions that they translate."""

    words: Sequence[int]
    """Word ids, at least one."""
    start: int
    """The first source position that the words translate."""
    stop: int
    """The position after the last one."""


class Progress(NamedTuple):
    """The progress of a hypothesis with the terms; it depends on the words of the hypothesis and on their attention."""

    open: tuple[int, ...]
    """The numbers of the terms that the hypothesis does not contain yet."""
    missing: int
    """The number of words that are missing until all terms are complete."""
    begun: tuple[int, ...]
    """The open terms that the last `length` words of the hypothesis begin or complete."""
    length: int
    """The number of words of these terms that the hypothesis contains."""
    written: int
    """The number of words of the hypothesis."""
    placed: tuple[tuple[int, int], ...]
    """The terms that the hypothesis contains, each with the position of its first word."""
    astray: tuple[float, ...]
    """For each term, the attention on its source words while other words were written."""

    @property
    def doubled(self) -> int:
        """The number of terms whose source words are translated by other words than the term."""
        return sum(attention > ASTRAY for attention in self.astray)


class Terms:
    """The terms of one sentence."""

    def __init__(self, terms: Sequence[Term], continues: Callable[[int], bool] = lambda word: False) -> None:
        """Take the terms, and a function that tells whether an id continues the preceding word, as a subword can.

        A term must end where a word ends, and its first id must not continue a word.
        """
        self.terms = terms
        self._continues = continues
        self.words = sum(len(term.words) for term in terms)
        """The number of words of all terms together."""
        self.start = Progress(tuple(range(len(terms))), self.words, (), 0, 0, (), (0.0,) * len(terms))

    def after_prefix(self, prefix: Sequence[int]) -> Progress:
        """Return the progress of a translation that is just this prefix. An unknown word of a prefix belongs to no term."""
        progress = self.start
        for word in prefix:
            progress = self.after(progress, _NO_WORD if word == UNK else word, (), self.start.astray)
        return progress

    def next_words(self, progress: Progress, begins: Collection[int] | None = None) -> list[int]:
        """Return the words that advance a hypothesis: those that continue a begun term, or begin one of `begins`.

        By default, any open term may begin.
        """
        partial = self._partial(progress)
        # A term must be completed once it has begun, unless the words so far are also another, complete term.
        if partial and len(partial) == len(progress.begun):
            words = [self.terms[number].words[progress.length] for number in partial]
        else:
            words = [
                self.terms[number].words[progress.length if number in partial else 0]
                for number in self._ended(progress).open
                if begins is None or number in begins
            ]
        return list(dict.fromkeys(words))

    def extensions(
        self, progress: Progress, best: Sequence[int], alpha_S: NDArray[np.float32] | None, left: int
    ) -> list[tuple[int, Progress]]:
        """Return the possible next words of a hypothesis, with the progress after each.

        These are the most probable words, `best`, and the words that continue or begin terms. The end symbol is possible
        only if no word is missing, and a word only if the missing words and the end symbol fit into the `left` words after
        it. If no word is possible, any open term may begin.
        """
        # Without an alignment model, any term may begin at any time.
        if alpha_S is None:
            return self._extensions(progress, best, progress.open, self.start.astray, left)
        # The attention of this step on the source words of each term. A term may begin if it has at least the attention of
        # the most attended position.
        attention = tuple(float(alpha_S[term.start : term.stop].sum()) for term in self.terms)
        found: list[tuple[int, Progress]] = []
        if progress.missing < left and list(best[:1]) != [END]:
            highest = float(alpha_S.max())
            begins = [number for number in progress.open if attention[number] >= highest]
            found = self._extensions(progress, best, begins, attention, left)
        return found or self._extensions(progress, best, progress.open, attention, left)

    def _extensions(
        self, progress: Progress, best: Sequence[int], begins: Collection[int], attention: Sequence[float], left: int
    ) -> list[tuple[int, Progress]]:
        """Return the possible next words as `extensions` does; only the terms in `begins` may begin."""
        # All words that are not words of terms have the same effect on the progress, which is computed once.
        of_terms = {*self.next_words(progress), *(self.terms[number].words[0] for number in progress.open)}
        others: dict[bool, Progress] = {}
        found = []
        for word in dict.fromkeys((*best, *self.next_words(progress, begins))):
            if word == END:
                if not progress.missing:
                    found.append((END, progress))
                continue
            if word in of_terms:
                then = self.after(progress, word, begins, attention)
            else:
                continues = bool(progress.begun) and self._continues(word)
                if continues not in others:
                    others[continues] = self.after(progress, word, begins, attention)
                then = others[continues]
            # The missing words and the end symbol must fit into the remaining length.
            if then.missing == 0 or then.missing < left:
                found.append((word, then))
        return found

    def after(self, progress: Progress, word: int, begins: Collection[int], attention: Sequence[float]) -> Progress:
        """Return the progress after a further word; `attention` is that on the source words of each term.

        Any open term may begin with this word, but with `[UNK]`, which can stand for any word, only one of `begins`.
        """
        # The word continues begun terms; otherwise it ends the terms that are complete, and may begin an open term.
        begun = tuple(n for n in self._partial(progress) if self.terms[n].words[progress.length] == word)
        if begun:
            length = progress.length + 1
        else:
            progress = progress if self._continues(word) else self._ended(progress)
            begun = tuple(n for n in progress.open if self.terms[n].words[0] == word and (word != UNK or n in begins))
            length = 1 if begun else 0
        # The attention on the source words of a term counts as astray unless the word is part of the term.
        astray = tuple(
            before if number in begun else before + more
            for number, (before, more) in enumerate(zip(progress.astray, attention, strict=True))
        )
        missing = sum(len(self.terms[number].words) for number in progress.open) - length
        return Progress(progress.open, missing, begun, length, progress.written + 1, progress.placed, astray)

    def placed(self, progress: Progress) -> tuple[tuple[int, int], ...]:
        """Return the terms that the hypothesis contains if it ends here, each with the position of its first word."""
        return self._ended(progress).placed

    def _partial(self, progress: Progress) -> list[int]:
        """Return the begun terms that are not complete."""
        return [number for number in progress.begun if progress.length < len(self.terms[number].words)]

    def _ended(self, progress: Progress) -> Progress:
        """Return the progress after the end of the last word, which makes a complete term final."""
        # A complete term is placed where its words begin, and is no longer open.
        for number in progress.begun:
            if len(self.terms[number].words) == progress.length:
                rest = tuple(other for other in progress.open if other != number)
                placed = (*progress.placed, (number, progress.written - progress.length))
                return progress._replace(open=rest, begun=(), length=0, placed=placed)
        return progress
