"""The pair of the source and the target vocabulary: its files, and its comparison with other pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rnnsearch.config import DataConfig
from rnnsearch.text.normalization import Side
from rnnsearch.text.subwords import Subwords
from rnnsearch.text.vocabulary import Vocabulary

SIDES: tuple[Side, Side] = ("source", "target")
FILES = tuple(f"{side}.{kind}" for kind in ("vocab", "subwords") for side in SIDES)
"""The names of all files that `Vocabularies.save` may write into a folder."""


def normalizes(data: DataConfig, side: Side) -> bool:
    """Whether the words of this side are normalised; other units than words have their own setting, `data.normalization`."""
    return data.normalize_words and (data.source_units if side == "source" else data.target_units) == "words"


class Vocabularies(NamedTuple):
    """The source and the target vocabulary."""

    source: Vocabulary
    target: Vocabulary

    @classmethod
    def load(cls, folder: Path, data: DataConfig) -> Vocabularies:
        """Read the files that `save` has written, for these settings. Raises RnnsearchError for missing or damaged files."""
        return cls(
            *(
                Vocabulary.load(
                    folder / f"{side}.vocab",
                    None if data.subwords == "none" else Subwords.load(folder / f"{side}.subwords", data.subwords),
                    data.right_to_left and side == "target",
                    side if normalizes(data, side) else None,
                )
                for side in SIDES
            )
        )

    def save(self, folder: Path) -> None:
        """Write `source.vocab` and `target.vocab`, and with subwords also `source.subwords` and `target.subwords`."""
        for side, vocabulary in zip(SIDES, self, strict=True):
            vocabulary.save(folder / f"{side}.vocab")
            if vocabulary.subwords:
                vocabulary.subwords.save(folder / f"{side}.subwords")

    def encode(self, source: Sequence[str], target: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the words of a pair, without end symbols."""
        return self.source.encode(source), self.target.encode(target)

    def differing_side(self, other: Vocabularies) -> str | None:
        """Return the first side, `source` or `target`, whose words or direction differ from `other`, or None."""
        for side, ours, theirs in zip(SIDES, self, other, strict=True):
            if (ours.words, ours.right_to_left) != (theirs.words, theirs.right_to_left):
                return side
        return None
