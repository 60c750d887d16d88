"""Alignments as arrays: from subwords to words, from probabilities to links, and as numbers in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.data.word_alignments import Links
from rnnsearch.text.vocabulary import END_SYMBOL

Alignment = NDArray[np.float32]
LINKED = 0.5
"""Two words are linked if the probability of the link is greater than this."""


def links_above(probabilities: Alignment) -> Links:
    """Return the links (source, target) whose probability is greater than `LINKED`."""
    return frozenset((int(source), int(target)) for target, source in np.argwhere(probabilities > LINKED))


def weighed_links(probabilities: Alignment) -> list[list[float]]:
    """Return these links as [source, target, probability], sorted, with four places."""
    return [[s, t, round(float(probabilities[t, s]), 4)] for s, t in sorted(links_above(probabilities))]


def with_end(
    tokens: list[str], alignment: Alignment | None, end_alignment: Alignment | None
) -> tuple[list[str], Alignment | None]:
    """Return the words and the end symbol with their rows; the end symbol is omitted if it has no row."""
    if alignment is None or end_alignment is None:
        return tokens, alignment
    return [*tokens, END_SYMBOL], np.concatenate([alignment, end_alignment[np.newaxis]])


def as_rows(alignment: Alignment | None) -> Any:
    """Return the weights as lists of numbers, without rounding."""
    return None if alignment is None else alignment.tolist()


def as_arrays(plain: dict[str, Any], columns: int) -> dict[str, Alignment | None]:
    """Return the arrays of the alignments that `as_rows` converted; the matrix has `columns` columns."""
    matrix, row = (
        None if plain[name] is None else np.array(plain[name], np.float32) for name in ("alignment", "end_alignment")
    )
    return {"alignment": None if matrix is None else matrix.reshape(len(plain["tokens"]), columns), "end_alignment": row}


def rounded(alignment: Alignment | None) -> list[list[float]] | None:
    """Return the weights as lists of numbers with four places."""
    return None if alignment is None else [[round(float(weight), 4) for weight in row] for row in alignment]


def rounded_row(row: Alignment | None) -> list[float] | None:
    """Return the weights of one row as numbers with four places."""
    return None if row is None else [round(float(weight), 4) for weight in row]


def by_words(alignment: Alignment, target_word_ids: Sequence[int], source_word_ids: Sequence[int]) -> Alignment:
    """Convert an alignment of subwords to one of words.

    The weight of a source word is the sum over its subwords, and the row of a target word is the mean over its subwords.

    (subwords, source subwords + 1) to (words, source words + 1); the word ids are those of `Vocabulary.word_ids`. The rows
    of a right-to-left (R2L) model are reversed: words come in reading order.
    """
    if len(target_word_ids) and target_word_ids[0] > target_word_ids[-1]:
        alignment, target_word_ids = np.ascontiguousarray(alignment[::-1]), target_word_ids[::-1]
    if len(set(target_word_ids)) == len(target_word_ids) and len(set(source_word_ids)) == len(source_word_ids):
        return alignment
    targets = np.array(target_word_ids, np.int64)
    sources = np.array([*source_word_ids, len(set(source_word_ids))], np.int64)
    starts = [np.flatnonzero(np.diff(word_ids, prepend=-1)) for word_ids in (targets, sources)]
    summed = np.add.reduceat(np.add.reduceat(alignment, starts[0], axis=0), starts[1], axis=1)
    return np.asarray(summed / np.bincount(targets)[:, None], np.float32)


def links_by_words(probabilities: Alignment, target_word_ids: Sequence[int], source_word_ids: Sequence[int]) -> Alignment:
    """Convert the link probabilities of subwords to those of words: the means over the subwords of both words.

    (subwords, source subwords) to (words, source words); see `by_words`.
    """
    with_end = np.pad(probabilities, ((0, 0), (0, 1)))
    summed = by_words(with_end, target_word_ids, source_word_ids)[:, :-1]
    return np.asarray(summed / np.bincount(source_word_ids), np.float32)


def end_by_words(end_alignment: Alignment, source_word_ids: Sequence[int]) -> Alignment:
    """Convert the row of the end symbol to words: the weight of a source word is the sum over its subwords."""
    row: Alignment = by_words(end_alignment[np.newaxis], [0], source_word_ids)[0]
    return row
