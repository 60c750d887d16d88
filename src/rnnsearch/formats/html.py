"""HTML documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from rnnsearch.formats.parts import Part, Slot
from rnnsearch.formats.units import Head


class Html:
    """A document of HTML, or a part of one."""

    name: ClassVar[str] = "HTML"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"
    _start = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)

    def recognises(self, head: Head) -> bool:
        """Whether it begins as whole documents do."""
        return self._start.match(head.text) is not None

    def encoding(self, content: bytes) -> str:
        """Return UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the whole document as one slot; the translator separates its text from its markup."""
        yield Slot(0, len(text), text, lambda new: new, "html")
