"""Files of pairs, read with what is told of them."""

from __future__ import annotations

import warnings
from pathlib import Path

from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchWarning
from rnnsearch.formats.languages import Languages

Pairs = list[tuple[str, str]]


def read(
    path: Path, languages: Languages = (None, None), tags: bool = False, other: Path | None = None
) -> tuple[Pairs, str]:
    """The pairs of a file, or of two, and the text of all warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RnnsearchWarning)
        pairs = list(read_pairs([path], [other or path], languages, tags))
    return pairs, "".join(str(one.message) for one in told)
