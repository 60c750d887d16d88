"""The recognition of the format of a file by its name and its first bytes.

The formats are imported only for files that may be in one of them: most files are plain text, for which this would take as
long as a tenth of a cold start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnsearch.formats.opening import without_compression
from rnnsearch.formats.units import Format, Head, MessageFormat

if TYPE_CHECKING:
    from rnnsearch.formats.docx import Docx
    from rnnsearch.formats.parts import DocumentFormat

ENDINGS = (
    *(".po", ".pot", ".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".ts", ".xml", ".resx", ".resw", ".strings", ".ftl"),
    *(".json", ".arb", ".srt", ".vtt", ".md", ".markdown", ".html", ".htm", ".docx"),
)
"""The endings of the names of documents in these formats. A file with such a name may still have another format."""
RECORD_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
"""The endings of the names of tables and of JSON Lines."""
FIRST_LETTERS = "mPW"
"""The letters with which files of some formats begin: `msgid` of PO, `PAR1` of Parquet, `PK` of Word, and `WEBVTT`."""


def format_of(head: Head, records: bool = True) -> Format | None:
    """Return the format of a file with both sides of pairs; None if no format recognises it.

    Without `records`, only files are considered that cannot be mistaken for plain text.
    """
    if not records and is_plain(head) and not _name(head).endswith(RECORD_ENDINGS):
        return None
    from rnnsearch.formats.registry import RECORDS, UNMISTAKABLE

    found = next((one for one in (*UNMISTAKABLE, *RECORDS) if one.recognises(head)), None)
    return found if records or found in UNMISTAKABLE or _names_languages(head, found) else None


def _names_languages(head: Head, format_: Format | None) -> bool:
    """Whether a file has the name of a table or of JSON Lines, and its beginning names the columns of two languages."""
    if not _name(head).endswith(RECORD_ENDINGS):
        return False
    from rnnsearch.formats.delimited import Delimited
    from rnnsearch.formats.records import JsonLines

    return isinstance(format_, Delimited | JsonLines) and format_.names_languages(head)


def message_format_of(head: Head) -> MessageFormat | None:
    """Return the format of a file of messages in one language; None if no format recognises it."""
    if is_plain(head):
        return None
    from rnnsearch.formats.registry import MESSAGES

    return next((one for one in MESSAGES if one.recognises(head)), None)


def document_format_of(head: Head) -> DocumentFormat | Docx | None:
    """Return the format of a document; None if no format recognises it."""
    name = document_name_of(head)
    if name is None:
        return None
    from rnnsearch.formats.registry import DOCUMENTS

    return DOCUMENTS[name]


def document_name_of(head: Head) -> str | None:
    """Return the name, in `DOCUMENTS`, of the format of a document; None if no format recognises it."""
    if is_plain(head):
        return None
    from rnnsearch.formats.registry import DOCUMENTS

    return next((name for name, one in DOCUMENTS.items() if one.recognises(head)), None)


def is_plain(head: Head) -> bool:
    """Return whether the name and the first letter of a file suffice to tell that no format but `RECORDS` recognises it."""
    first = head.text.lstrip()[:1]
    return first.isalpha() and first not in FIRST_LETTERS and not _name(head).endswith(ENDINGS)


def _name(head: Head) -> str:
    return without_compression(head.path).name.lower()
