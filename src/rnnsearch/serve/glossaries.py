"""Glossaries that clients have stored on the server."""

from __future__ import annotations

import csv
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.normalization import plain
from rnnsearch.translation.glossary import MOST_CHARACTERS

MOST_GLOSSARIES = 100
"""The most glossaries of a server."""
MOST_GLOSSARY_BYTES = 1_000_000
"""The most bytes of a request that stores a glossary, whatever the limit of characters."""
MOST_NAME = 1000
"""The most characters of the name of a glossary."""


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary of a pair of languages."""

    number: str
    """The identifier by which requests name it."""
    name: str
    source: str
    target: str
    created: datetime
    terms: dict[str, str]

    def relevant(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the terms that may occur in one of the texts; only their words decide whether they do.

        A term whose letters do not occur there, whatever the case of letters and the white space, cannot be among its words.
        """
        letters = "\n".join(map(_letters, texts))
        return {source: target for source, target in self.terms.items() if _letters(source) in letters}


class Glossaries:
    """The glossaries of a server, which are gone when it stops."""

    def __init__(self) -> None:
        self._glossaries: dict[str, StoredGlossary] = {}

    def __iter__(self) -> Iterator[StoredGlossary]:
        return iter(self._glossaries.values())

    def get(self, number: str) -> StoredGlossary | None:
        """Return the glossary with this identifier, if there is one."""
        return self._glossaries.get(number)

    def add(self, name: str, source: str, target: str, terms: dict[str, str]) -> StoredGlossary:
        """Store a glossary. Raises RnnsearchError if there are too many."""
        if len(self._glossaries) >= MOST_GLOSSARIES:
            raise RnnsearchError(f"there are {MOST_GLOSSARIES} glossaries, and no more can be stored; delete one")
        glossary = StoredGlossary(str(uuid.uuid4()), name, source, target, datetime.now(UTC), terms)
        self._glossaries[glossary.number] = glossary
        return glossary

    def delete(self, number: str) -> None:
        """Forget a glossary."""
        del self._glossaries[number]


def entries(text: str, how: str) -> dict[str, str]:
    """Parse the entries of a glossary: `tsv` has a term, a tab and its translation on each line, `csv` a comma between.

    Further columns of `csv`, such as the languages, are ignored, and so are blank lines. Raises RnnsearchError, with the
    number of the line, for a line that is not of this kind, and for a term that has two translations.
    """
    lines = text.splitlines()
    rows = csv.reader(lines) if how == "csv" else (line.split("\t") for line in lines)
    terms: dict[str, str] = {}
    try:
        for number, row in enumerate(rows, 1):
            columns = [column.strip() for column in row]
            if not any(columns):
                continue
            wrong = len(columns) < 2 or (how == "tsv" and len(columns) > 2) or not all(columns[:2])
            if wrong or max(map(len, columns[:2])) > MOST_CHARACTERS:
                told = f"give a term and its translation, of {MOST_CHARACTERS} characters at most"
                raise RnnsearchError(f"entries: line {number}, {shown(row)}: {told}")
            source, target = columns[:2]
            if terms.setdefault(source, target) != target:
                raise RnnsearchError(f"entries: line {number}: {shown(source)} has another translation before; give one")
    except csv.Error as error:
        raise RnnsearchError(f"entries: {error}") from None
    if not terms:
        raise RnnsearchError("entries: there is none; give a term and its translation on each line")
    return terms


def _letters(text: str) -> str:
    """Return a text without white space and case, and with plain apostrophes and the like."""
    return "".join(plain(text).casefold().split())
