"""A sentence to translate, with what its translations have to contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rnnsearch.data.batches import WIDTH_MULTIPLE
from rnnsearch.search.hypothesis import Hypothesis
from rnnsearch.search.terms import Terms


@dataclass(eq=False)
class Query:
    """A sentence to translate, and the resulting translations."""

    words: Sequence[int]
    """Word ids, without the end symbol."""
    beam: int
    prefix: Sequence[int] = ()
    """The words with which the translations begin. A prefix excludes vocabulary selection in the backend."""
    terms: Terms | None = None
    """The terms that the translations must contain. Terms exclude vocabulary selection in the backend and sampling."""
    hypotheses: list[Hypothesis] = field(default_factory=list)
    """The translations, best first, after the end of the search."""
    cancelled: bool = False
    """If this is set, the search for this sentence ends at the next step with the translations so far."""

    @property
    def positions(self) -> int:
        """The number of source positions of the sentence in a search, with end symbol and padding."""
        return -(-(len(self.words) + 1) // WIDTH_MULTIPLE) * WIDTH_MULTIPLE
