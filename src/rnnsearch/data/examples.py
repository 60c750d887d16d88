"""Examples: sentences with translations of other systems, as papers print them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from rnnsearch.data.read import read_lines
from rnnsearch.errors import RnnsearchError

SOURCE = "source"
"""The column of the sentences."""


@dataclass(frozen=True)
class Example:
    """A sentence, and translations of it."""

    source: str
    others: dict[str, str]
    """What the other columns have, by their names; without empty fields."""


def read_examples(path: Path) -> list[Example]:
    """Read a table of tab-separated values: the first line names the columns, of which one is `source`.

    Raises RnnsearchError, with file and line, for a row with another number of fields, and where there are no sentences.
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
