"""Tables with separators: CSV, and tab-separated text with quotation marks or a header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.columns import columns_of
from rnnsearch.formats.opening import SAMPLE, File, without_compression
from rnnsearch.formats.text_files import encoding_of, lines_of
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit

_QUOTED_CELL = re.compile(r'(?:^|[\t,;|])"(?:[^"]|"")*"(?=[\t,;|\r\n]|\Z)', re.MULTILINE)
_NEEDS_QUOTES = re.compile(r'(?:^|\t)"(?:[^"]|"")*(?:""|[\t\n])(?:[^"]|"")*"(?=\t|\r?$)', re.MULTILINE)


class _Dialect(NamedTuple):
    """The dialect of a table: how its cells are separated."""

    separator: str
    quoted: bool
    """Whether cells may be in quotation marks."""
    regular: bool
    """Whether all rows have as many cells, at least two."""


class Delimited:
    """Rows with a source and a target, in the first two columns or in those that a header names."""

    name: ClassVar[str] = "CSV"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether it is a table of another kind than those of `rnnsearch.data.read.read_table`.

        It is one by its name (`.csv`), its encoding (UTF-16), its header, or quotation marks around cells.
        """
        if without_compression(head.path).suffix.lower() == ".csv":
            return True
        dialect = _dialect(head.text)
        if dialect is None:
            return False
        if dialect.separator == "\t":
            names = head.text.partition("\n")[0].rstrip("\r").split("\t")
            return dialect.quoted or encoding_of(head.start, "") == "utf-16" or columns_of(names) is not None
        return dialect.regular and _QUOTED_CELL.search(head.text) is not None

    def names_languages(self, head: Head) -> bool:
        """Whether the first row names the columns of two languages or sides."""
        dialect = _dialect(head.text)
        rows = [] if dialect is None else _rows(head.text, dialect.separator, dialect.quoted)
        return any(columns_of(row) is not None for row in rows[:1])

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the rows. Raises RnnsearchError, with the line, where quotation marks are not closed or not doubled."""
        dialect = _dialect(Head(path, file.peek(SAMPLE)[:SAMPLE]).text) or _Dialect(",", True, True)
        rows = csv.reader(
            lines_of(file, path, ""),
            delimiter=dialect.separator,
            quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
            strict=True,
        )
        columns, place, first = {0: SOURCE, 1: TARGET}, 1, True
        try:
            for row in rows:
                named = columns_of(row) if first else None
                # Excel reads the separator from such a line before the header.
                first = first and row[:1] == ["sep="]
                if named:
                    columns = named
                elif any(cell.strip() for cell in row) and not first:
                    texts = [Text(language, row[column]) for column, language in columns.items() if column < len(row)]
                    yield Unit(place, texts, None if len(texts) == len(columns) else "with too few cells")
                place = rows.line_num + 1
        except csv.Error as error:
            reason = f"{path}:{place}: not a table with quotation marks as in CSV ({error})"
            raise RnnsearchError(f"{reason}; mend or export it again") from None


def _dialect(start: str) -> _Dialect | None:
    """Return the dialect of a table that begins with this text; None if it is not a table."""
    best: tuple[int, _Dialect] | None = None
    for separator in "\t,;|":
        quoted = separator != "\t" or _quotes_tabs(start)
        rows = _rows(start, separator, quoted)
        lengths = {len(row) for row in rows}
        if not rows or max(lengths) < 2:
            continue
        several = sum(len(row) >= 2 for row in rows)
        regular = len(lengths) == 1
        # Separators also occur in sentences, but not as often in every row.
        score = several + len(rows) * (2 * regular + (lengths == {2}) + (separator == "\t" and several == len(rows)))
        if best is None or score > best[0]:
            best = score, _Dialect(separator, quoted, regular)
    return best[1] if best else None


def _quotes_tabs(start: str) -> bool:
    """Whether cells between tabs are in quotation marks, which otherwise are a part of the text.

    They are if all cells are, or if one holds a tab, a line end, or a quotation mark that is doubled.
    """
    cells = [cell for row in _rows(start, "\t", quoted=False) for cell in row if cell]
    return _NEEDS_QUOTES.search(start) is not None or all(len(one) > 1 and one[0] == one[-1] == '"' for one in cells)


def _rows(start: str, separator: str, quoted: bool) -> list[list[str]]:
    """Return the rows in the beginning of a table, except blank lines and the last row, which may be cut off."""
    reader = csv.reader(
        io.StringIO(start, newline=""), delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    try:
        rows = [row for row in reader if row]
    except csv.Error:
        return []
    return rows if start.endswith("\n") and len(start) < SAMPLE else rows[:-1] or rows
