"""Sentences of like length, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], sentences: int, positions: int = 4096) -> Iterator[list[int]]:
    """Indices in batches, longest first: at most `sentences` each, and at most `positions` with padding.

    A sentence longer than `positions` has a batch to itself.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        longest = lengths[batch[0]] if batch else lengths[index]
        if batch and (len(batch) == sentences or (len(batch) + 1) * longest > positions):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
