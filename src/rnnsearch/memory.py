"""A translation memory: segments with their corrected translations, in an SQLite database.

When `Memory.add` returns, the segments are on the disk: neither a killed process nor a power failure loses them.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.units import one_line
from rnnsearch.untrusted import check_regular

Pair: TypeAlias = tuple[str, str]
Languages: TypeAlias = tuple[str, str]
"""The codes of the source and the target language."""

FILE = "memory.sqlite"
"""The database in the folder of a memory."""
MOST_SEGMENTS = 1_000_000
"""The most segments of a memory."""
MOST_CHARACTERS = 2000
"""The most characters of a segment, and of its translation."""
LEAST_SCORE = 70.0
"""The least similarity of a fuzzy match, in percent."""
_NUMBER = re.compile(r"\d+(?:[.,:/\u00a0\u202f]\d+)*")
_AT_ONCE = 10_000
"""The number of segments that are read from the database at a time."""
_WAIT = 30.0
"""The time in seconds to wait for another process that writes."""
_TABLE = """
CREATE TABLE IF NOT EXISTS segments (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    source_language TEXT NOT NULL, target_language TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
    UNIQUE (source_language, target_language, source)
)
"""
_OF_LANGUAGES = "FROM segments WHERE source_language = ? AND target_language = ?"


@dataclass(frozen=True)
class Match:
    """A segment that is similar to a text."""

    source: str
    target: str
    score: float
    """The similarity in percent: twice the length of the longest common subsequence, divided by the sum of both lengths."""

    def repaired(self, text: str) -> str | None:
        """Return the translation of a text that differs from the segment only in numbers, with the numbers of the text.

        The result is None if the text differs in anything else. It is also None if it is unclear which numbers of the
        translation to replace, that is, unless each number that differs occurs exactly once on both sides of the segment;
        and if such a number has other characters than digits, because languages write these differently.
        """
        text = one_line(text)
        if _NUMBER.sub("0", text) != _NUMBER.sub("0", self.source):
            return None
        old, new = _NUMBER.findall(self.source), _NUMBER.findall(text)
        changes = {before: after for before, after in zip(old, new, strict=True) if before != after}
        of_target = _NUMBER.findall(self.target)
        digits = all(number.isdecimal() for pair in changes.items() for number in pair)
        once = all(old.count(before) == of_target.count(before) == 1 for before in changes)
        if not (changes and digits and once):
            return None
        return _NUMBER.sub(lambda match: changes.get(match[0], match[0]), self.target)


class Memory:
    """The memory in a folder. Its methods may be called in any thread, and other processes may use the folder too.

    White space in segments and texts counts as one space, but for no-break spaces. A segment has one translation in each
    language: the last one that was added. All methods raise RnnsearchError if the database cannot be read or written.
    """

    def __init__(self, folder: Path, create: bool = True) -> None:
        """Open the memory in `folder`; without `create`, it has to be there."""
        self._path = folder / FILE
        if not create and not self._path.exists():
            raise RnnsearchError(f"{folder}: there is no translation memory, {FILE}, in this folder")
        check_regular(self._path)
        self._lock, self._index_lock = threading.Lock(), threading.Lock()
        self._indexes: dict[Languages, _Index] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RnnsearchError(f"{folder}: cannot write there: {error.strerror}") from None
        with self._reporting():
            self._connection = sqlite3.connect(self._path, timeout=_WAIT, check_same_thread=False)
            # A transaction is over when its journal is deleted; EXTRA flushes the folder too, so that it stays deleted.
            self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.execute("PRAGMA synchronous = EXTRA")
            with self._connection:
                self._connection.execute(_TABLE)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def add(self, languages: Languages, pairs: Iterable[Pair]) -> tuple[int, int]:
        """Store segments and their translations, all of them or, if an exception is raised, none.

        Returns how many were stored and how many were left out, which are empty or too long. Raises
        RnnsearchError if the memory has no space for all of them.
        """
        stored = left_out = 0
        with self._lock, self._reporting(), self._connection as connection:
            for pair in pairs:
                source, target = map(_segment, pair)
                if source is None or target is None:
                    left_out += 1
                    continue
                # A replaced segment gets a new number, so that `since` returns it again.
                connection.execute(
                    "INSERT OR REPLACE INTO segments (source_language, target_language, source, target) VALUES (?, ?, ?, ?)",
                    (*languages, source, target),
                )
                stored += 1
            (count,) = connection.execute("SELECT count(*) FROM segments").fetchone()
            if count > MOST_SEGMENTS:
                raise RnnsearchError(f"{self._path}: a memory has {MOST_SEGMENTS:,} segments at most; begin another one")
        return stored, left_out

    def exact(self, languages: Languages, source: str) -> str | None:
        """Return the translation of a segment, or None if the memory does not have it."""
        segment = _segment(source)
        if segment is None:
            return None
        with self._lock, self._reporting():
            query = f"SELECT target {_OF_LANGUAGES} AND source = ?"
            row = self._connection.execute(query, (*languages, segment)).fetchone()
        return None if row is None else str(row[0])

    def fuzzy(self, languages: Languages, source: str, count: int) -> list[Match]:
        """Return the segments that are most similar to a text, the most similar first, `count` at most.

        All segments are compared: about one second for a million of them.
        """
        from rapidfuzz import fuzz, process

        segment = _segment(source)
        if segment is None:
            return []
        with self._index_lock:
            index = self._indexes.setdefault(languages, _Index())
            index.extend(self.since(languages, index.last))
            best = process.extract(segment, index.targets.keys(), scorer=fuzz.ratio, score_cutoff=LEAST_SCORE, limit=count)
            return [Match(similar, index.targets[similar], round(score, 1)) for similar, score, _ in best]

    def since(self, languages: Languages, number: int = 0, most: int = MOST_SEGMENTS) -> list[tuple[int, str, str]]:
        """Return the segments that were added after the one with this number, oldest first: number, source and target."""
        query = f"SELECT number, source, target {_OF_LANGUAGES} AND number > ? ORDER BY number LIMIT ?"
        with self._lock, self._reporting():
            return self._connection.execute(query, (*languages, number, most)).fetchall()

    def pairs(self, languages: Languages) -> Iterator[Pair]:
        """Yield all segments with their translations, oldest first; no more than some thousands are in memory at once."""
        last = 0
        while segments := self.since(languages, last, _AT_ONCE):
            yield from ((source, target) for _, source, target in segments)
            last = segments[-1][0]

    def counts(self) -> dict[Languages, int]:
        """Return the number of segments of each pair of languages."""
        query = "SELECT source_language, target_language, count(*) FROM segments GROUP BY 1, 2 ORDER BY 1, 2"
        with self._lock, self._reporting():
            return {(source, target): count for source, target, count in self._connection.execute(query)}

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise RnnsearchError for errors of the database."""
        try:
            yield
        except sqlite3.Error as error:
            raise RnnsearchError(f"{self._path}: {error}") from None


def _segment(text: str) -> str | None:
    """Return a text as the memory has it, or None if it is empty or too long, or has lone surrogates."""
    segment = one_line(text)
    usable = 0 < len(segment) <= MOST_CHARACTERS and not any("\ud800" <= letter <= "\udfff" for letter in text)
    return segment if usable else None


class _Index:
    """The segments of a pair of languages in memory, for fuzzy matches."""

    def __init__(self) -> None:
        self.last = 0
        """The number of the newest segment."""
        self.targets: dict[str, str] = {}

    def extend(self, segments: Sequence[tuple[int, str, str]]) -> None:
        for self.last, source, target in segments:
            self.targets[source] = target
