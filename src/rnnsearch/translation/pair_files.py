"""Parallel files of given translations, scored line by line."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from rnnsearch.data.read import read_pairs
from rnnsearch.text.tokenize import split_at_spaces
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translator import Translator


def score_files(
    translator: Translator,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    tokenized: bool = False,
    with_alignment: bool = False,
) -> Iterator[ScoredPair]:
    """Score the pairs of two files, line by line; `tokenized` files are cut at spaces alone."""
    pairs = read_pairs([Path(source)], [Path(target)])
    number = 0
    while group := list(itertools.islice(pairs, 2000)):
        if tokenized:
            sources, targets = ([split_at_spaces(line) for line in side] for side in zip(*group, strict=True))
        else:
            sources = [translator.source_words(line) for line, _ in group]
            targets = [translator.target_words(line) for _, line in group]
        yield from translator.score_words(sources, targets, with_alignment=with_alignment, first_line=number + 1)
        number += len(group)
