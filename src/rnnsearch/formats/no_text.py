"""Files that are no text in UTF-8, which are refused with a line that says what they are and what to give instead."""

from __future__ import annotations

import codecs
from pathlib import PurePath

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import COMMANDS

SAMPLE = 4096
"""The number of bytes at the beginning of a file that are examined."""
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, whose mark begins with the same bytes
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_WIDTHS = {"UTF-32LE": 4, "UTF-32BE": 4, "UTF-16LE": 2, "UTF-16BE": 2}
_ZIP = b"PK\x03\x04"
_KINDS = {
    b"SQLite format 3\0": "a database; export it, e.g. as TMX",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an encrypted document, or one of an old Office; save it as .docx, unencrypted",
    b"%PDF-": "a PDF; save the document that it was made from as .docx or HTML",
    b"{\\rtf": "RTF; save it as .docx",
}
"""The first bytes of files of other kinds, what they are, and what to give instead."""
_ZIPPED = {
    **dict.fromkeys((".xlsx", ".ods"), "a spreadsheet; save it as CSV in UTF-8"),
    **dict.fromkeys((".odt", ".odp", ".pptx", ".epub"), "a document of another kind; save it as .docx or HTML"),
}
"""What compressed files with these names are, and what to give instead."""


def check_text(start: bytes, path: PurePath) -> None:
    """Raise RnnsearchError for an archive, a database or a document of another kind, and for UTF-16 or UTF-32.

    The last two are recognised by a byte order mark or zero bytes. `start` is the beginning of the file.
    """
    sample = start[:SAMPLE]
    kind = next((kind for first, kind in _KINDS.items() if sample.startswith(first)), None)
    if sample.startswith(_ZIP):
        kind = _ZIPPED.get(path.suffix.lower())
        if kind is None:
            raise RnnsearchError(f"{path}: this is compressed; decompress it, e.g. unzip -p {path.name}")
    if kind is not None:
        raise RnnsearchError(f"{path}: this is {kind}, and give that")
    encoding = next((name for mark, name in _MARKS.items() if sample.startswith(mark)), None)
    if encoding is None and b"\0" in sample:
        encoding = next((name for name, width in _WIDTHS.items() if _looks_like(sample, name, width)), None)
    if encoding is not None:
        reader = COMMANDS.get(path.suffix, "cat")
        raise RnnsearchError(
            f"{path}: this is {encoding}, not UTF-8; convert it, e.g. {reader} {path.name} | iconv -f {encoding} -t UTF-8"
        )


def _looks_like(sample: bytes, encoding: str, width: int) -> bool:
    """Whether a sample can be text in this encoding: it decodes to printable characters, at least a tenth of them ASCII.

    `width` is the number of bytes of a code unit of the encoding. Any text has ASCII characters, if only spaces.
    """
    if len(sample) % width:
        return False
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":  # a sample may end within a surrogate pair
            return False
        text = sample[: error.start].decode(encoding)
    return (
        10 * sum(map(str.isascii, text)) >= len(text)
        and 2 * text.count("\n") >= sample.count(b"\n")  # in UTF-8 read as UTF-16, line feeds are parts of other characters
        and all(letter.isprintable() or letter.isspace() for letter in text)
    )
