"""Patterns of users: regular expressions for further spans to keep, which are found in bounded time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import regex

from rnnsearch.errors import RnnsearchError, shown

SECONDS, SECONDS_A_LINE = 1.0, 0.005
"""The time that the patterns may take for a group of lines, and for each of its lines."""

LONGEST = 500
"""The time is looked at too rarely in longer texts: `regex` counts steps, and a step reads a part of the text."""


class Patterns:
    """Regular expressions, as the package `regex` reads them, for a group of lines."""

    def __init__(self, patterns: Sequence[str], lines: int = 1) -> None:
        """Raises RnnsearchError for a pattern that is none."""
        self._left = SECONDS + SECONDS_A_LINE * lines
        self._patterns: list[regex.Pattern[str]] = []
        for pattern in patterns:
            try:
                self._patterns.append(regex.compile(pattern))
            except (regex.error, OverflowError, RecursionError, ValueError) as error:
                raise RnnsearchError(
                    f"protect: {shown(pattern)} is no regular expression: {error}; write one such as [A-Z]+-\\d+"
                ) from None

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where the patterns match; an empty match is none. RnnsearchError where they have taken too long.

        A line that is longer than `LONGEST` is searched in parts, which are cut at spaces.
        """
        found: list[tuple[int, int]] = []
        first = 0
        while self._patterns and first < len(line):
            last = first + LONGEST
            if last < len(line):
                last = line.rfind(" ", first + 1, last) + 1 or last
            found += [(first + start, first + stop) for start, stop in self._within(line[first:last])]
            first = last
        return found

    def _within(self, line: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for pattern in self._patterns:
            began = time.monotonic()
            try:
                matches = list(pattern.finditer(line, timeout=max(self._left, 1e-3)))
            except TimeoutError:
                raise RnnsearchError(
                    f"protect: {shown(pattern.pattern)} takes more than {SECONDS:g} s; write it without repetitions within "
                    "repetitions, as (a+)+ has"
                ) from None
            self._left -= time.monotonic() - began
            found += [match.span() for match in matches if match[0].strip()]
        return found
