"""Pictures of alignments, as in Figure 3, one file a pair, and pages of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rnnsearch.extras import require

if TYPE_CHECKING:
    from rnnsearch.translation import Translation, Translator
    from rnnsearch.translation.translation import Aligned


class Pictures:
    """Draws the alignments of the first pairs into a folder, if one is given."""

    def __init__(self, folder: Path | None, most: int) -> None:
        if folder is not None:
            require("matplotlib")  # before anything is translated
        self.most = most if folder is not None else 0
        """The number of pairs to draw."""
        self.folder, self._pairs = folder, 0

    def add(self, pair: Aligned | None) -> None:
        """Draw the next pair; the pair is None after the last one to draw."""
        self._pairs += 1
        if self.folder is None or pair is None or self._pairs > self.most or not pair.tokens:
            return

        from rnnsearch.report.heatmap import MAX_WORDS, plot_alignment

        tokens, alignment = pair.with_end()
        if alignment is not None and max(alignment.shape) <= MAX_WORDS:
            plot_alignment(alignment, pair.source_tokens, tokens, self.folder / f"{self._pairs:04d}.png")
        else:
            reason = "the model has no alignment" if alignment is None else f"more than {MAX_WORDS} words on a side"
            print(f"rnnsearch: pair {self._pairs}: {reason}, so it is not drawn", file=sys.stderr)


class Page:
    """A page of translations or given pairs, if a file is given for it."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.most = 0
        """The number of sentences whose records it needs."""
        if path is not None:
            from rnnsearch.report.page import MOST_SAMPLES, SentencePage

            self.most, self._sentences = MOST_SAMPLES, SentencePage()

    def reading(self, lines: Iterable[str]) -> Iterable[str]:
        """The lines of the source, which the page then shows as they were written."""
        return lines if self._path is None else self._sentences.reading(lines)

    def add(self, pair: Aligned | None, *others: Translation) -> None:
        """Add the next sentence and further translations of it; the sentence is None after the last one that is needed."""
        if self._path is None:
            return
        if pair is None:
            self._sentences.pass_over(1)
        else:
            self._sentences.add(pair, others)

    def write(self, title: str, translator: Translator) -> None:
        """Write the page."""
        if self._path is not None:
            self._sentences.write(self._path, title, translator)
