"""HTML documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from rnnsearch.formats.parts import Part, Slot
from rnnsearch.formats.units import Head, ending


class Html:
    """A document of HTML, or a part of one."""

    name: ClassVar[str] = "HTML"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"
    _start = re.compile(r"\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)
    _charset = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
    _latin = ("iso-8859-1", "iso8859-1", "latin1", "ascii", "us-ascii")
    """Names of encodings that mean Windows-1252 in HTML."""

    def recognises(self, head: Head) -> bool:
        """Whether it begins as whole documents do, or has a name of HTML and begins with a tag."""
        if ending(head) in (".html", ".htm", ".xhtml") and head.text.lstrip().startswith("<"):
            return True
        return self._start.match(head.text) is not None

    def encoding(self, content: bytes) -> str:
        """Return UTF-8, or the encoding that the document declares if it is not valid UTF-8."""
        declared = self._charset.search(content, 0, 4096)
        name = declared[1].decode("ascii").lower() if declared else "utf-8"
        if name.startswith("utf") or _is_utf_8(content):
            return "utf-8"
        return "windows-1252" if name in self._latin else name

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the whole document as one slot; the translator separates its text from its markup."""
        yield Slot(0, len(text), text, lambda new: new, "html")


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
