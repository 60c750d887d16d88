"""The list of all formats."""

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
from rnnsearch.formats.units import Format, MessageFormat, WrittenFormat
from rnnsearch.formats.xliff import Xliff

_TMX, _PO, _XLIFF, _QT = Tmx(), Po(), Xliff(), QtLinguist()
_SUBTITLES, _ANDROID, _RESX, _JSON = Subtitles(), Android(), ResX(), JsonMessages()
_STRINGS, _FLUENT = AppleStrings(), Fluent()
UNMISTAKABLE: tuple[Format, ...] = (_TMX, _XLIFF, _QT, Tbx(), _PO, Parquet())
"""Formats with both sides of pairs in one file that cannot be mistaken for plain text."""
RECORDS: tuple[Format, ...] = (JsonList(), JsonLines(), Delimited())
"""Formats with both sides of pairs in one file whose beginning may also be that of a plain text."""
MESSAGES: tuple[MessageFormat, ...] = (_SUBTITLES, _ANDROID, _RESX, _JSON, _STRINGS, _FLUENT)
"""Formats with one language in a file."""
WRITTEN: dict[str, WrittenFormat] = {"tmx": _TMX}
"""Formats in which pairs are written, by the endings of file names, which are also their names in `translate --format`."""
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
"""Formats that are translated into files of the same format, by their names in `translate --format`."""


def document_of(
    content: bytes, format_: DocumentFormat | Docx, path: Path, again: bool = False, most_text: int = MOST_TEXT
) -> DocumentFile | DocxFile:
    """Parse a document of this format; see `DocumentFile`.

    Raises RnnsearchError for one that is damaged or hostile, or whose text is more than `most_text` bytes, decompressed.
    """
    if isinstance(format_, Docx):
        return DocxFile(content, path, most_text)
    if len(content) > most_text:
        raise RnnsearchError(f"{path}: more than {most_text:,} bytes of text; cut it into smaller documents")
    return DocumentFile(content, format_, path, again)
