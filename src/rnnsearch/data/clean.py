"""The cleaning of the training text: rules that drop sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

from rnnsearch.config import DataConfig

Reason: TypeAlias = Literal["empty", "too_long", "ratio"]
"""A rule that drops a pair without regard to other pairs."""

LETTERS_A_WORD = 20
"""With `subwords`, a side may have at most this many letters × `max_length`: a subword can be as short as a letter, so a
single very long "word" could otherwise fill the memory."""


@dataclass
class CleaningReport:
    """The numbers of pairs that were read, dropped by each rule (the first that applies to a pair), and kept."""

    read: int = 0
    empty: int = 0
    too_long: int = 0
    ratio: int = 0
    duplicate: int = 0
    kept: int = 0

    def count(self, what: str, pairs: int = 1) -> None:
        """Add `pairs` to the counter `what`: `read`, `kept`, or the name of a rule."""
        setattr(self, what, getattr(self, what) + pairs)

    def lines(self) -> list[str]:
        """Return the report as text for the user, with a line for each count."""
        return [
            f"{self.read:>12,} pairs read",
            f"{self.empty:>12,} dropped: a side is empty",
            f"{self.too_long:>12,} dropped: a side is too long",
            f"{self.ratio:>12,} dropped: lengths differ too much",
            f"{self.duplicate:>12,} dropped: seen before",
            f"{self.kept:>12,} kept",
        ]


class Cleaner:
    """Decides which pairs to drop (empty, too long, too different in length, or repeated), and counts them in `report`.

    Repeated pairs are recognised by their `fingerprint`; storing the fingerprints takes about 90 MB for a million pairs.
    """

    def __init__(self, config: DataConfig) -> None:
        self.report = CleaningReport()
        self._config = config
        self._seen: set[int] = set()

    def keep(self, source: Sequence[str], target: Sequence[str]) -> bool:
        """Return whether to keep this pair of tokenised sentences for training, and count it."""
        self.report.read += 1
        reason: Reason | Literal["duplicate"] | None = reason_to_drop(self._config, source, target)
        if reason is None and self._config.remove_duplicates and self._is_repeated(source, target):
            reason = "duplicate"
        self.report.count(reason or "kept")
        return reason is None

    def _is_repeated(self, source: Sequence[str], target: Sequence[str]) -> bool:
        digest = fingerprint(source, target)
        if digest in self._seen:
            return True
        self._seen.add(digest)
        return False


def reason_to_drop(config: DataConfig, source: Sequence[str], target: Sequence[str]) -> Reason | None:
    """Return the first rule that drops this pair of tokenised sentences, or None; repetitions are not considered."""
    shorter, longer = sorted((len(source), len(target)))
    if shorter == 0:
        return "empty"
    if longer > config.max_length or _has_too_many_letters(config, source, target):
        return "too_long"
    if longer > shorter * config.max_length_ratio:
        return "ratio"
    return None


def fingerprint(source: Sequence[str], target: Sequence[str]) -> int:
    """Return a 64-bit hash of a pair of tokenised sentences."""
    text = " ".join(source) + "\n" + " ".join(target)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _has_too_many_letters(config: DataConfig, source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether a side that will be segmented into subwords has more letters than `LETTERS_A_WORD` allows."""
    if config.subwords == "none":
        return False
    return max(sum(map(len, source)), sum(map(len, target))) > LETTERS_A_WORD * config.max_length
