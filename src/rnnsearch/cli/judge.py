"""The alignment error rate that `rnnsearch align` computes if there are gold links."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.alignment import LineLinks
    from rnnsearch.data.word_alignments import GoldLinks, Links


class Judge:
    """Compares links with gold links, if a file of gold links is given."""

    def __init__(self, gold: Path | None, reverse: bool) -> None:
        self.gold, self._reverse = gold, reverse
        self._links: list[GoldLinks] = []
        self._predicted: list[Links] = []

    @property
    def lines(self) -> int:
        """The number of pairs that have gold links."""
        return len(self._links)

    def read(self) -> None:
        """Read the gold links before any work is done."""
        from rnnsearch.data.word_alignments import read_gold

        if self.gold is not None:
            self._links = read_gold(self.gold, reverse=self._reverse)

    def add(self, predicted: Iterable[Links]) -> None:
        """Add the links of the next pairs."""
        if self.gold is not None:
            self._predicted.extend(predicted)

    def judged(self, links: Iterable[tuple[LineLinks, Links]]) -> Iterator[tuple[LineLinks, Links]]:
        """Yield the links of each line, and add them; there may be gold links for the first lines only."""
        for number, (line, of_line) in enumerate(links):
            if number < self.lines:
                self.add([of_line])
            yield line, of_line

    def check(self) -> None:
        """Raises RnnsearchError unless there are gold links for each pair, before anything has its final name."""
        if self.gold is not None and len(self._links) != len(self._predicted):
            raise RnnsearchError(
                f"{self.gold} has {len(self._links)} lines for {len(self._predicted)} pairs; give one line per pair"
            )

    def print(self) -> None:
        """Print the alignment error rate."""
        from rnnsearch.evaluation.aer import alignment_error_rate

        if self.gold is None:
            return
        score = alignment_error_rate(self._predicted, self._links)
        print(
            f"AER {score.aer:.4f} (precision {score.precision:.4f}, recall {score.recall:.4f}, "
            f"{score.links:,} links, {score.sure:,} sure)",
            file=sys.stderr,
        )
