"""The lookup of lines by their first column."""

from __future__ import annotations

from bisect import bisect_left


class KeyedLines:
    """Lines of a key, a tab and more, in the order of their keys. A dictionary of their parts would take more memory."""

    def __init__(self, text: str) -> None:
        self._lines = sorted(text.removesuffix("\n").split("\n"), key=_key_of)

    def get(self, key: str) -> str | None:
        """Return what follows a key and its tab in the first line that has the key; None if there is no such line."""
        place = bisect_left(self._lines, key, key=_key_of)
        if place == len(self._lines):
            return None
        found, tab, rest = self._lines[place].partition("\t")
        return rest if tab and found == key else None


def _key_of(line: str) -> str:
    return line.partition("\t")[0]
