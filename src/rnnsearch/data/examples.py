"""Examples: sentences with translations by other systems, such as papers print."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from rnnsearch.data.lines import read_lines
from rnnsearch.errors import RnnsearchError

SOURCE = "source"
"""The name of the column that holds the source sentences."""


@dataclass(frozen=True)
class Example:
    """A source sentence, and translations of it by other systems."""

    source: str
    others: dict[str, str]
    """The texts of the other columns by the names of the columns; empty fields are left out."""


def read_examples(path: Path) -> list[Example]:
    """Read a table of tab-separated values, whose first line names the columns; one of them has to be `source`.

    Raises RnnsearchError, with file and line, for a row with a wrong number of fields, and if there are no sentences.
    """
    rows = csv.reader(read_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    names = next(rows, [])
    if SOURCE not in names:
        raise RnnsearchError(f"{path}:1: no column is called {SOURCE!r}; the first line names the columns, between tabs")
    if len(set(names)) < len(names):
        raise RnnsearchError(f"{path}:1: two columns have the same name; give each a name of its own")
    examples = []
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise RnnsearchError(f"{path}:{number}: {len(row)} fields, but the first line names {len(names)} columns")
        fields = dict(zip(names, row, strict=True))
        examples.append(Example(fields.pop(SOURCE), {name: text for name, text in fields.items() if text.strip()}))
    if not examples:
        raise RnnsearchError(f"{path}: no sentences below the names of the columns")
    return examples
