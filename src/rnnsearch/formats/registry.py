"""All formats, and which of them a file has."""

from __future__ import annotations

from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.delimited import Delimited
from rnnsearch.formats.docx import MOST_TEXT, Docx, DocxFile
from rnnsearch.formats.html import Html
from rnnsearch.formats.json_messages import JsonMessages
from rnnsearch.formats.markdown import Markdown
from rnnsearch.formats.messages import AppleStrings, Fluent
from rnnsearch.formats.parts import DocumentFile, DocumentFormat
from rnnsearch.formats.po import Po
from rnnsearch.formats.qt import QtLinguist
from rnnsearch.formats.records import JsonLines, JsonList, Parquet
from rnnsearch.formats.resources import Android, ResX
from rnnsearch.formats.subtitles import Subtitles
from rnnsearch.formats.tbx import Tbx
from rnnsearch.formats.tmx import Tmx
from rnnsearch.formats.units import Format, Head, MessageFormat, WrittenFormat
from rnnsearch.formats.xliff import Xliff

_TMX, _PO, _XLIFF, _QT = Tmx(), Po(), Xliff(), QtLinguist()
_SUBTITLES, _ANDROID, _RESX, _JSON = Subtitles(), Android(), ResX(), JsonMessages()
_STRINGS, _FLUENT = AppleStrings(), Fluent()
UNMISTAKABLE: tuple[Format, ...] = (_TMX, _XLIFF, _QT, Tbx(), _PO, Parquet())
"""Formats with both sides of pairs in a file, whose beginning no plain text has."""
RECORDS: tuple[Format, ...] = (JsonList(), JsonLines(), Delimited())
"""Formats with both sides of pairs in a file, whose beginning may be that of a plain text."""
MESSAGES: tuple[MessageFormat, ...] = (_SUBTITLES, _ANDROID, _RESX, _JSON, _STRINGS, _FLUENT)
"""Formats with one language in a file."""
WRITTEN: dict[str, WrittenFormat] = {"tmx": _TMX}
"""Formats in which pairs are written, by the ends of file names and the names that `translate --format` has for them."""
DOCUMENTS: dict[str, DocumentFormat | Docx] = {
    "po": _PO,
    "xliff": _XLIFF,
    "qt": _QT,
    "android": _ANDROID,
    "resx": _RESX,
    "strings": _STRINGS,
    "fluent": _FLUENT,
    "json-messages": _JSON,
    "subtitles": _SUBTITLES,
    "markdown": Markdown(),
    "html": Html(),
    "docx": Docx(),
}
"""Formats that are translated into files of the same kind, by the names that `translate --format` has for them."""

ENDINGS = (
    *(".po", ".pot", ".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".ts", ".xml", ".resx", ".resw", ".strings", ".ftl"),
    *(".json", ".arb", ".srt", ".vtt", ".md", ".markdown", ".html", ".htm", ".docx"),
)
"""How the names of documents in these formats end. A file with such a name need not be one of them."""


def format_of(head: Head, records: bool = True) -> Format | None:
    """The format of a file with both sides of pairs that begins so; None if it has none of these.

    Without `records`, only those are considered that no plain text can be mistaken for.
    """
    return next((one for one in (*UNMISTAKABLE, *(RECORDS if records else ())) if one.recognises(head)), None)


def message_format_of(head: Head) -> MessageFormat | None:
    """The format of a file with one language that begins so; None if it has none of these."""
    return next((one for one in MESSAGES if one.recognises(head)), None)


def document_format_of(head: Head) -> DocumentFormat | Docx | None:
    """The format of a document that begins so; None if it has none of these."""
    name = document_name_of(head)
    return None if name is None else DOCUMENTS[name]


def document_name_of(head: Head) -> str | None:
    """The name, in `DOCUMENTS`, of the format of a document that begins so; None if it has none of these."""
    return next((name for name, one in DOCUMENTS.items() if one.recognises(head)), None)


def document_of(
    content: bytes, format_: DocumentFormat | Docx, path: Path, again: bool = False, most_text: int = MOST_TEXT
) -> DocumentFile | DocxFile:
    """A document of this format; see `DocumentFile`.

    Raises RnnsearchError for one that is damaged or hostile, or whose text is more than `most_text` bytes, decompressed.
    """
    if isinstance(format_, Docx):
        return DocxFile(content, path, most_text)
    if len(content) > most_text:
        raise RnnsearchError(f"{path}: more than {most_text:,} bytes of text; cut it into smaller documents")
    return DocumentFile(content, format_, path, again)
