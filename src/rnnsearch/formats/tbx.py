"""TBX (TermBase eXchange), versions 2 and 3: terms, which are pairs like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from rnnsearch.formats.opening import File
from rnnsearch.formats.units import NO_TEXT, Head, Text, Unit
from rnnsearch.formats.xml import elements, root_of


class Tbx:
    """Concepts with one or more terms in each language."""

    name: ClassVar[str] = "TBX"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `martif` (version 2) or `tbx` (version 3)."""
        return root_of(head) in ("martif", "tbx")

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the concepts."""
        for found in elements(file, path, ("termEntry", "conceptEntry")):
            texts = [
                Text(section.get("xml:lang") or "und", "".join(term.itertext()))
                for section in found.element
                if section.tag in ("langSet", "langSec")
                for term in section.iter("term")
            ]
            yield Unit(found.line, texts, None if texts else NO_TEXT)
