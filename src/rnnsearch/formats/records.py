"""Records: lines of JSON, lists in JSON, and Parquet, with a sentence in each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from rnnsearch.errors import RnnsearchError
from rnnsearch.extras import imports_of_extras
from rnnsearch.formats.columns import columns_of, unit_of_row
from rnnsearch.formats.opening import File
from rnnsearch.formats.text_files import decoded, lines_of, read_whole
from rnnsearch.formats.units import Head, Unit
from rnnsearch.untrusted import parse_json

_ROWS = 1000


class JsonLines:
    """A record on each line."""

    name: ClassVar[str] = "JSON Lines"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether the first line is an object or a list of JSON."""
        first, ended, _ = head.text.lstrip().partition("\n")
        if not re.match(r'\{\s*"|\[\s*"', first):
            return False
        return first.rstrip().endswith(("}", "]")) or not ended

    def names_languages(self, head: Head) -> bool:
        """Whether the first record has sentences in two languages."""
        try:
            return unit_of_row(1, parse_json(head.text.lstrip("\ufeff \t\r\n").partition("\n")[0])).left_out is None
        except ValueError:
            return False

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the records. Raises RnnsearchError, with the line, for a text that is not JSON."""
        for number, line in enumerate(lines_of(file, path, "\n"), 1):
            content = line.removeprefix("\ufeff")  # files with byte order marks may have been joined
            if not content.strip():
                continue
            try:
                record = parse_json(content)
            except ValueError as error:
                raise RnnsearchError(
                    f"{path}:{number}: not a line of JSON ({error}); mend the line, or write the file again"
                ) from None
            yield unit_of_row(number, record)


class JsonList:
    """A list of records."""

    name: ClassVar[str] = "JSON"
    places: ClassVar[str] = "record"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether it begins with a list of objects or lists."""
        return re.match(r"\s*\[\s*[{\[]", head.text) is not None

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the records. Raises RnnsearchError for a text that is not JSON."""
        try:
            records = parse_json(decoded(read_whole(file, path), path))
        except ValueError as error:
            raise RnnsearchError(f"{path}: not JSON ({error}); mend it, or write it again") from None
        for number, record in enumerate(records, 1):
            yield unit_of_row(number, record)


class Parquet:
    """Parquet, of which only the columns with sentences are read."""

    name: ClassVar[str] = "Parquet"
    places: ClassVar[str] = "row"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether it begins with the mark of Parquet."""
        return head.start.startswith(b"PAR1")

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the rows. Raises RnnsearchError for a damaged file and for one that is read from a pipe."""
        with imports_of_extras():
            import pyarrow
            from pyarrow.parquet import ParquetFile

        if not file.seekable():
            raise RnnsearchError(
                f"{path}: Parquet is read from its end, and this can be read only once; write it into a file"
            )
        number = 0
        try:
            table = ParquetFile(file)
            names = table.schema_arrow.names
            columns = ["translation"] if "translation" in names else [names[n] for n in columns_of(names) or {}]
            if not columns:
                shown = ", ".join(names[:20])
                raise RnnsearchError(
                    f"{path}: its columns ({shown}) have no names such as en and fr, or source and target; rename them"
                )
            for batch in table.iter_batches(_ROWS, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield unit_of_row(number, row)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = str(error).partition("\n")[0]
            raise RnnsearchError(
                f"{path}: damaged Parquet after row {number:,} ({reason}); fetch or write it again"
            ) from None
