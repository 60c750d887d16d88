"""The vocabularies of both languages, which go together: their files, and whether two pairs of them are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from rnnsearch.text.subwords import SubwordKind, Subwords
from rnnsearch.text.vocabulary import Vocabulary

SIDES = ("source", "target")
FILES = tuple(f"{side}.{kind}" for kind in ("vocab", "subwords") for side in SIDES)
"""Every file that `Vocabularies.save` may write into a folder."""


class Vocabularies(NamedTuple):
    """The source and the target vocabulary."""

    source: Vocabulary
    target: Vocabulary

    @classmethod
    def load(cls, folder: Path, subwords: SubwordKind | Literal["none"], right_to_left: bool) -> Vocabularies:
        """Read what `save` wrote; `right_to_left` is the order of the target's ids. RnnsearchError for what is damaged."""
        return cls(
            *(
                Vocabulary.load(
                    folder / f"{side}.vocab",
                    None if subwords == "none" else Subwords.load(folder / f"{side}.subwords", subwords),
                    right_to_left and side == "target",
                )
                for side in SIDES
            )
        )

    def save(self, folder: Path) -> None:
        """Write `source.vocab` and `target.vocab`, and `source.subwords` and `target.subwords` where words are segmented."""
        for side, vocabulary in zip(SIDES, self, strict=True):
            vocabulary.save(folder / f"{side}.vocab")
            if vocabulary.subwords:
                vocabulary.subwords.save(folder / f"{side}.subwords")

    def encode(self, source: Sequence[str], target: Sequence[str]) -> tuple[list[int], list[int]]:
        """The ids of the words of a pair, without end symbols."""
        return self.source.encode(source), self.target.encode(target)

    def differing_side(self, other: Vocabularies) -> str | None:
        """The first side, `source` or `target`, on which the words or their order differ; None if there is none."""
        for side, ours, theirs in zip(SIDES, self, other, strict=True):
            if (ours.words, ours.right_to_left) != (theirs.words, theirs.right_to_left):
                return side
        return None
