"""The cleaning of sentence pairs before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from rnnsearch.config import DataConfig

LETTERS_A_WORD = 20
"""With `subwords`, a side may have this many letters for every word of `max_length`: a subword can be as short as a letter,
so that a single endless "word" would fill the memory."""


@dataclass
class CleaningReport:
    """The number of pairs that were read, dropped by each rule (the first that applied), and kept."""

    read: int = 0
    empty: int = 0
    too_long: int = 0
    ratio: int = 0
    duplicate: int = 0
    kept: int = 0

    def lines(self) -> list[str]:
        """The report for a reader, a line for each count."""
        return [
            f"{self.read:>12,} pairs read",
            f"{self.empty:>12,} dropped: a side is empty",
            f"{self.too_long:>12,} dropped: a side is too long",
            f"{self.ratio:>12,} dropped: lengths differ too much",
            f"{self.duplicate:>12,} dropped: seen before",
            f"{self.kept:>12,} kept",
        ]


class Cleaner:
    """Drops empty, over-long, lopsided and repeated pairs, and counts what it drops in `report`.

    Repeated pairs are known by a hash of 8 bytes; remembering them takes about 90 MB for a million pairs.
    """

    def __init__(self, config: DataConfig) -> None:
        self.report = CleaningReport()
        self._config = config
        self._seen: set[bytes] = set()

    def keep(self, source: Sequence[str], target: Sequence[str]) -> bool:
        """Whether to train on this pair of tokenised sentences."""
        report = self.report
        report.read += 1
        shorter, longer = sorted((len(source), len(target)))
        if shorter == 0:
            report.empty += 1
        elif longer > self._config.max_length or self._has_endless_words(source, target):
            report.too_long += 1
        elif longer > shorter * self._config.max_length_ratio:
            report.ratio += 1
        elif self._config.remove_duplicates and self._is_repeated(source, target):
            report.duplicate += 1
        else:
            report.kept += 1
            return True
        return False

    def _has_endless_words(self, source: Sequence[str], target: Sequence[str]) -> bool:
        if self._config.subwords == "none":
            return False
        return max(sum(map(len, source)), sum(map(len, target))) > LETTERS_A_WORD * self._config.max_length

    def _is_repeated(self, source: Sequence[str], target: Sequence[str]) -> bool:
        text = " ".join(source) + "\n" + " ".join(target)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if digest in self._seen:
            return True
        self._seen.add(digest)
        return False
