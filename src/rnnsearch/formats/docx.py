"""Word documents: packages in which the texts are replaced, and all else stays as it is."""

from __future__ import annotations

import io
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from zipfile import BadZipFile, ZipFile

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.formats.no_text import check_text
from rnnsearch.formats.parts import DocumentFile, Slot
from rnnsearch.formats.units import Head, ending
from rnnsearch.formats.word import WordPart

MOST_FILES = 10_000
"""The largest number of files in a package."""
MOST_BYTES = 256_000_000
"""The largest number of bytes of all files in a package, decompressed."""
MOST_TEXT = 64_000_000
"""The largest number of bytes of those files that have text, decompressed."""
_TEXTS = re.compile(r"word/(?:document|header|footer|footnotes|endnotes)\d*\.xml")
_DAMAGED = (BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class Docx:
    """Documents of Word and LibreOffice."""

    name: ClassVar[str] = "DOCX"

    def recognises(self, head: Head) -> bool:
        """Whether it is a zip file whose name ends in `.docx`, or with text of Word near its beginning."""
        return head.start.startswith(b"PK\x03\x04") and (ending(head) == ".docx" or b"word/document" in head.start)


class DocxFile:
    """A Word document: its texts, and the document with other texts in their place."""

    def __init__(self, content: bytes, path: Path, most_text: int = MOST_TEXT) -> None:
        """Raise RnnsearchError for a file that is damaged or hostile, or has more bytes of text, decompressed."""
        self._content, self._path = content, path
        if not content.startswith(b"PK"):
            check_text(content, path)
        try:
            with ZipFile(io.BytesIO(content)) as package:
                self._check(package, most_text)
                texts = [info for info in package.infolist() if _TEXTS.fullmatch(info.filename)]
                self._contents = {info.filename: package.read(info) for info in texts}
                self._texts = {name: self._part(name, text) for name, text in self._contents.items()}
        except _DAMAGED as error:
            raise self._damaged(error) from None
        if not self._texts:
            raise RnnsearchError(f"{path}: a zip file without the text of a Word document; is it a .docx?")
        self.slots: list[Slot] = [slot for text in self._texts.values() for slot in text.slots]
        self.kept = Counter[str]()  # what stays in a Word document, such as fields, is no text

    def joined(self, translations: Sequence[str]) -> bytes:
        """Return the document with these translations in its slots."""
        new: dict[str, bytes] = {}
        place = 0
        for name, text in self._texts.items():
            new[name] = text.joined(translations[place : place + len(text.slots)])
            place += len(text.slots)
        if all(new[name] == content for name, content in self._contents.items()):
            return self._content
        written = io.BytesIO()
        try:
            with ZipFile(io.BytesIO(self._content)) as package, ZipFile(written, "w") as other:
                other.comment = package.comment
                for info in package.infolist():
                    other.writestr(info, new.get(info.filename) or package.read(info))
        except _DAMAGED as error:
            raise self._damaged(error) from None
        return written.getvalue()

    def _part(self, name: str, content: bytes) -> DocumentFile:
        return DocumentFile(content, WordPart(), self._path.with_name(f"{self._path.name}:{name.replace('/', ':')}"))

    def _check(self, package: ZipFile, most_text: int) -> None:
        infos = package.infolist()
        names = [info.filename for info in infos]
        odd = next((name for name in names if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name)), None)
        reason = None
        if odd is not None:
            reason = f"a file in it has the name {shown(odd)}, which leads out of the package"
        elif len(set(names)) < len(names):
            reason = "two files in it have the same name"
        elif len(names) > MOST_FILES or sum(info.file_size for info in infos) > MOST_BYTES:
            reason = f"more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes are in it"
        elif sum(info.file_size for info in infos if _TEXTS.fullmatch(info.filename)) > most_text:
            reason = f"more than {most_text:,} bytes of text are in it"
        elif any(info.flag_bits & 1 for info in infos):
            reason = "it is encrypted; save it without a password"
        if reason:
            raise RnnsearchError(f"{self._path}: not read as a Word document: {reason}")

    def _damaged(self, error: Exception) -> RnnsearchError:
        reason = str(error).partition("\n")[0][:200].rstrip(".")
        return RnnsearchError(f"{self._path}: a damaged Word document ({reason}); save it again")
