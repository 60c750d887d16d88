"""Translation sources of Qt Linguist (`.ts`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element

from rnnsearch.formats.opening import File
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit
from rnnsearch.formats.xliff import NO_TRANSLATION
from rnnsearch.formats.xml import elements, root_of

_LEFT_OUT = {"unfinished": "unfinished", "obsolete": "obsolete", "vanished": "obsolete"}
"""The types of translations that are not used, and what they are called."""


class QtLinguist:
    """`message` elements; of plural forms, the last one is taken, which is the general one."""

    name: ClassVar[str] = "Qt Linguist"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = "en"

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `TS`."""
        return root_of(head) == "TS"

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the messages."""
        for found in elements(file, path, ("message",)):
            translation = found.element.find("translation")
            source = _text(found.element.find("source"))
            target = "" if translation is None else _text(translation)
            reason = None if translation is None else _LEFT_OUT.get(translation.get("type", ""))
            if not target.strip() and reason != "obsolete":
                reason = NO_TRANSLATION
            root = found.above[0] if found.above else found.element
            languages = root.get("sourcelanguage") or SOURCE, root.get("language") or TARGET
            yield Unit(found.line, [Text(languages[0], source), Text(languages[1], target)], reason)


def _text(element: Element | None) -> str:
    if element is None:
        return ""
    forms = element.findall("numerusform")
    return "".join((forms[-1] if forms else element).itertext())
