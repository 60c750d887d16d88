"""Ascending numbers in files, as the differences between neighbours, most of which are small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 14
"""The number of integers that `Ascending.below` reads at a time."""


class Ascending:
    """A growing list of ascending integers from 0, in two files.

    One file has a small unsigned integer for each number: the difference from the number before, or the greatest value for a
    difference that is not smaller. The other file has those differences.
    """

    def __init__(self, path: Path, small: type[np.unsignedinteger]) -> None:
        """Begin an empty list; `small` is the type in which most differences fit."""
        self._small, self._greatest, self._last = small, int(np.iinfo(small).max), 0
        self._paths = path, path.with_name(f"{path.name}.large")
        for file in self._paths:
            file.write_bytes(b"")
        # What `below` has read: how many numbers of both files, the last one, and those that it has not returned yet.
        self._read = self._read_large = self._before = 0
        self._ahead = np.empty(0, np.int64)

    def append(self, numbers: NDArray[np.int64]) -> None:
        """Append numbers that are not less than those before."""
        if not len(numbers):
            return
        differences = np.diff(numbers, prepend=self._last)
        self._last = int(numbers[-1])
        large = differences >= self._greatest
        parts = np.where(large, self._greatest, differences).astype(self._small), differences[large]
        for path, part in zip(self._paths, parts, strict=True):
            with path.open("ab") as file:
                file.write(part.data)

    def read(self) -> NDArray[np.int64]:
        """Return all numbers."""
        small, large = np.fromfile(self._paths[0], self._small), np.fromfile(self._paths[1], np.int64)
        differences = small.astype(np.int64)
        differences[small == self._greatest] = large
        return np.cumsum(differences, out=differences)

    def below(self, limit: int) -> NDArray[np.int64]:
        """Return the numbers that are less than `limit`, without those that earlier calls have returned."""
        parts = [self._ahead]
        while not len(parts[-1]) or parts[-1][-1] < limit:
            small = np.fromfile(self._paths[0], self._small, _PIECE, offset=self._read * np.dtype(self._small).itemsize)
            if not len(small):
                break
            is_large = small == self._greatest
            large = np.fromfile(self._paths[1], np.int64, np.count_nonzero(is_large), offset=8 * self._read_large)
            differences = small.astype(np.int64)
            differences[is_large] = large
            differences[0] += self._before
            parts.append(np.cumsum(differences, out=differences))
            self._read, self._read_large, self._before = (
                self._read + len(small),
                self._read_large + len(large),
                int(differences[-1]),
            )
        numbers = np.concatenate(parts)
        place = np.searchsorted(numbers, limit)
        self._ahead = numbers[place:].copy()
        return numbers[:place]

    def remove(self) -> None:
        """Remove the files."""
        for path in self._paths:
            path.unlink()
