"""Priors of an aligner: counts of links, jumps and fertilities, in the format of eflomal.

A line of a file of priors consists of a kind, an event and its count, separated by tabs:

    LEX   source word, target word, count     links of the two words
    HMMF  jump, count                         jumps i − i′ between the source words of successive target words
    HMMR  jump, count                         jumps j − j′ between the target words of successive source words
    FERF  source word, fertility, count       occurrences of the source word that generate this number of target words
    FERR  target word, fertility, count       occurrences of the target word that generate this number of source words

In a line of the kind LEX, one of the words may be `<NULL>`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from operator import itemgetter
from sys import intern
from typing import NamedTuple, TextIO, TypeVar

from rnnsearch.data.word_alignments import parse_pharaoh
from rnnsearch.errors import RnnsearchError, shown

NULL = "<NULL>"
_Key = TypeVar("_Key", int, tuple[str, str], tuple[str, int])


class Priors(NamedTuple):
    """Counts that an aligner adds to those of its own text, as pseudo-counts."""

    lexicon: Counter[tuple[str, str]]
    """The number of links of a source word and a target word."""
    forward_jumps: Counter[int]
    """The number of jumps of a width in the direction that generates the target."""
    reverse_jumps: Counter[int]
    """The same in the direction that generates the source."""
    forward_fertility: Counter[tuple[str, int]]
    """The number of occurrences of a source word that generate this number of target words."""
    reverse_fertility: Counter[tuple[str, int]]
    """The number of occurrences of a target word that generate this number of source words."""

    @classmethod
    def empty(cls) -> Priors:
        """Return priors without counts."""
        return cls(Counter(), Counter(), Counter(), Counter(), Counter())

    @classmethod
    def of_links(
        cls, source: Iterable[str], target: Iterable[str], forward: Iterable[str], reverse: Iterable[str]
    ) -> Priors:
        """Count the links of a text from lines of source words, target words, forward links and reverse links (`0-0 1-2`).

        Words are separated by white space. Raises RnnsearchError for a link to a word that does not exist, and if the
        numbers of lines differ.
        """
        priors = cls.empty()
        for number, lines in enumerate(zip_longest(source, target, forward, reverse), start=1):
            if None in lines:
                raise RnnsearchError(f"line {number}: the numbers of lines of both texts and their links differ")
            try:
                priors._add(lines[0].split(), lines[1].split(), parse_pharaoh(lines[2]), parse_pharaoh(lines[3]))
            except RnnsearchError as error:
                raise RnnsearchError(f"line {number}: {error}") from None
        return priors

    def _add(
        self, source: list[str], target: list[str], forward: list[tuple[int, int]], reverse: list[tuple[int, int]]
    ) -> None:
        """Add the links, jumps and fertilities of a sentence pair."""
        for i, j in (*forward, *reverse):
            if i >= len(source) or j >= len(target):
                raise RnnsearchError(f"the link {i}-{j} is outside of {len(source)} source and {len(target)} target words")
        self.lexicon.update((source[i], target[j]) for i, j in forward)
        _count_jumps(self.forward_jumps, [(j, i) for i, j in forward], len(source))
        _count_jumps(self.reverse_jumps, reverse, len(target))
        # The fertility of a word is the number of its links in the direction in which it generates; only linked words count.
        for fertility, words, ends in (
            (self.forward_fertility, source, [i for i, _ in forward]),
            (self.reverse_fertility, target, [j for _, j in reverse]),
        ):
            fertility.update((words[end], count) for end, count in Counter(ends).items())

    @classmethod
    def read(cls, lines: Iterable[str]) -> Priors:
        """Read the lines of a file of priors; counts of the same event are added. Raises RnnsearchError for other lines."""
        priors = cls.empty()
        for number, line in enumerate(lines, start=1):
            try:
                priors._read(line.rstrip("\n").split("\t"))
            except ValueError:
                raise RnnsearchError(f"line {number} of the priors: {shown(line.rstrip())} is no line of priors") from None
        return priors

    def _read(self, fields: list[str]) -> None:
        """Add the count in the fields of a line. Raises ValueError if they are not those of a line of priors."""
        kind, *event, last = fields
        count = float(last)
        if not 0 <= count < math.inf:
            raise ValueError(last)
        if kind == "LEX":
            source, target = map(intern, event)
            self.lexicon[source, target] += count  # type: ignore[assignment]
        elif kind in ("HMMF", "HMMR"):
            (jump,) = map(int, event)
            (self.forward_jumps if kind == "HMMF" else self.reverse_jumps)[jump] += count  # type: ignore[assignment]
        elif kind in ("FERF", "FERR"):
            word, fertility = event
            counts = self.forward_fertility if kind == "FERF" else self.reverse_fertility
            counts[intern(word), int(fertility)] += count  # type: ignore[assignment]
        else:
            raise ValueError(kind)

    def write(self, file: TextIO) -> None:
        """Write the lines of a file of priors."""
        for kind, counts in (("LEX", self.lexicon), ("FERF", self.forward_fertility), ("FERR", self.reverse_fertility)):
            for (word, other), count in sorted(counts.items()):
                file.write(f"{kind}\t{word}\t{other}\t{count:g}\n")
        for kind, jumps in (("HMMF", self.forward_jumps), ("HMMR", self.reverse_jumps)):
            for jump, count in sorted(jumps.items()):
                file.write(f"{kind}\t{jump}\t{count:g}\n")


def _count_jumps(jumps: Counter[int], links: list[tuple[int, int]], length: int) -> None:
    """Count the jumps of links (generated word, generating word), from position −1 to the position after the last word.

    If a generated word has several links, a jump ends at the first of them, and the next one begins at the last.
    """
    # `before` is the position from which the next jump starts.
    last, before = -1, -1
    for generated, generating in sorted(links, key=itemgetter(0)):
        if generated != last:
            jumps[generating - before] += 1
        last, before = generated, generating
    jumps[length - before] += 1
