"""Pictures of alignments, as in Figure 3, one file a pair."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnsearch.translation.scoring import ScoredPair
    from rnnsearch.translation.translation import Translation


class Pictures:
    """Draws the alignments of the first pairs into a folder, where one is given."""

    def __init__(self, folder: Path | None, most: int) -> None:
        self.most = most if folder is not None else 0
        """The number of pairs to draw."""
        self._folder, self._pairs = folder, 0

    def add(self, pair: Translation | ScoredPair) -> None:
        """Draws the next pair."""
        self._pairs += 1
        if self._folder is None or self._pairs > self.most or not pair.tokens:
            return

        from rnnsearch.report.heatmap import MAX_WORDS, plot_alignment

        tokens, alignment = pair.with_end()
        if alignment is not None and max(alignment.shape) <= MAX_WORDS:
            plot_alignment(alignment, pair.source_tokens, tokens, self._folder / f"{self._pairs:04d}.png")
        else:
            reason = "the model has no alignment" if alignment is None else f"more than {MAX_WORDS} words on a side"
            print(f"rnnsearch: pair {self._pairs}: {reason}, so it is not drawn", file=sys.stderr)
