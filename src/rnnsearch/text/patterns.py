"""Regular expressions of users for further protected spans, matched in bounded time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import regex

from rnnsearch.errors import RnnsearchError, shown

SECONDS, SECONDS_A_LINE = 1.0, 0.005
"""The time limit of the patterns, for each group of lines and for each of its lines."""

LONGEST = 500
"""Longer texts are searched in parts, because `regex` checks its time limit once in so many steps of a search, and a step
can read much of a long text."""


class Patterns:
    """Regular expressions in the syntax of the package `regex`, to be searched for in a group of lines."""

    def __init__(self, patterns: Sequence[str], lines: int = 1) -> None:
        """Raises RnnsearchError for an invalid pattern."""
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
        """Return the non-empty matches of the patterns. Raises RnnsearchError if they take too long.

        A line that is longer than `LONGEST` is searched in parts, which are cut at spaces.
        """
        matched: list[tuple[int, int]] = []
        first = 0
        while self._patterns and first < len(line):
            last = first + LONGEST
            if last < len(line):
                last = line.rfind(" ", first + 1, last) + 1 or last
            matched += [(first + start, first + stop) for start, stop in self._within(line[first:last])]
            first = last
        return matched

    def _within(self, line: str) -> list[tuple[int, int]]:
        matched: list[tuple[int, int]] = []
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
            matched += [match.span() for match in matches if match[0].strip()]
        return matched
