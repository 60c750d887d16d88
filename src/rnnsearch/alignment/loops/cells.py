"""The numbering of position pairs by their word-type pairs, and sums over word-type pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.compiled_code import compiled_loop

f32 = np.float32


@compiled_loop
def _occurrences(text: Any, source_words: int) -> Any:
    """Return where the occurrences of each source word begin, and their sentence pairs and positions (a counting sort)."""
    pairs = len(text.offsets) - 1
    occurrences = len(text.source_ids)
    start = np.zeros(source_words + 1, np.int64)
    for k in range(occurrences):
        start[text.source_ids[k] + 1] += 1
    for e in range(source_words):
        start[e + 1] += start[e]
    # All occurrences of each word, in the order of the text.
    pair, position, filled = np.empty(occurrences, np.int64), np.empty(occurrences, np.int64), start.copy()
    for p in range(pairs):
        for k in range(text.source_starts[p], text.source_starts[p + 1]):
            e = text.source_ids[k]
            pair[filled[e]], position[filled[e]] = p, k - text.source_starts[p]
            filled[e] += 1
    return start, pair, position


@compiled_loop
def index_cells(text: Any, source_words: int, target_words: int) -> Any:
    start, pair, position = _occurrences(text, source_words)
    # For each source word e, all target words of the same sentence pairs: a target word that was not seen with e before
    # makes a new word-type pair.
    seen_with, number = np.full(target_words, -1, np.int32), np.empty(target_words, np.int32)
    types, rows, count = np.empty(1024, np.int32), np.zeros(source_words + 1, np.int64), 0
    for e in range(source_words):
        for k in range(start[e], start[e + 1]):
            p = pair[k]
            first, Ty = text.target_starts[p], text.target_starts[p + 1] - text.target_starts[p]
            cell = text.offsets[p] + position[k] * Ty
            # An array that is too short is replaced by one of twice the length.
            if count + Ty > len(types):
                larger = np.empty(2 * len(types) + Ty, np.int32)
                larger[:count] = types[:count]
                types = larger
            for j in range(Ty):
                f = text.target_ids[first + j]
                if seen_with[f] != e:
                    seen_with[f], number[f], types[count] = e, count, f
                    count += 1
                text.cells[cell + j] = number[f]
        rows[e + 1] = count
    return types[:count].copy(), rows


@compiled_loop
def fill_cells(text: Any, rows: Any, type_target: Any, target_words: int) -> None:
    start, pair, position = _occurrences(text, len(rows) - 1)
    number = np.empty(target_words, np.int32)
    for e in range(len(rows) - 1):
        for k in range(rows[e], rows[e + 1]):
            number[type_target[k]] = k
        for k in range(start[e], start[e + 1]):
            p = pair[k]
            first, Ty = text.target_starts[p], text.target_starts[p + 1] - text.target_starts[p]
            cell = text.offsets[p] + position[k] * Ty
            for j in range(Ty):
                text.cells[cell + j] = number[text.target_ids[first + j]]


@compiled_loop
def of_stems(source: Any, target: Any, links: Any, target_stems: int) -> Any:
    sums, found = np.zeros((target_stems, 2)), np.empty(links.shape, f32)
    first = 0
    while first < len(source):
        # The word-type pairs of a source stem follow each other.
        last = first
        while last < len(source) and source[last] == source[first]:
            sums[target[last], 0] += links[last, 0]
            sums[target[last], 1] += links[last, 1]
            last += 1
        for k in range(first, last):
            found[k, 0], found[k, 1] = sums[target[k], 0], sums[target[k], 1]
        for k in range(first, last):
            sums[target[k], 0] = sums[target[k], 1] = 0
        first = last
    return found
