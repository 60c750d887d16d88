"""Batches of sentences of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], sentences: int, positions: int = 4096) -> Iterator[list[int]]:
    """Yield batches of indices of sentences, by descending length.

    A batch has at most `sentences` sentences, and at most `positions` positions including padding; a sentence that is longer
    than `positions` has a batch of its own.
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
