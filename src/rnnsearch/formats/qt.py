"""Translation sources of Qt Linguist (`.ts`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal
from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import Inline
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import TRANSLATED, Change, Kept, Part
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit
from rnnsearch.formats.xliff_segments import NO_TRANSLATION
from rnnsearch.formats.xml import elements, encoding_of_xml, root_of
from rnnsearch.formats.xml_places import children, end_tag, placed_elements, start_tag, text_slot

_LEFT_OUT = {"unfinished": "unfinished", "obsolete": "obsolete", "vanished": "obsolete"}
"""The types of translations that are not used, and their names in messages."""


class QtLinguist:
    """`message` elements; of plural forms, the last one is taken, which is the general one."""

    name: ClassVar[str] = "Qt Linguist"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = "en"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"

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

    def encoding(self, content: bytes) -> str:
        """Return the encoding of the XML."""
        return encoding_of_xml(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the empty translations, which become unfinished ones; each plural form is a slot of its own."""
        for message, _ in placed_elements(text, path, ("message",)):
            source, translation = children(message, "source"), children(message, "translation")
            if not (source and translation and _text(source[0]).strip()):
                continue
            if _LEFT_OUT.get(translation[0].get("type", "")) == "obsolete":
                yield Kept(message.start, "obsolete")
                continue
            forms = children(translation[0], "numerusform") or translation
            missing = [form for form in forms if again or not "".join(form.itertext()).strip()]
            if not missing:
                yield Kept(message.start, TRANSLATED)
            if missing and forms is not translation:
                yield Change(translation[0].start, translation[0].inner, start_tag(translation[0], text, type="unfinished"))
            for form in missing:
                kind = {"type": "unfinished"} if forms is translation else {}
                yield Change(form.start, form.stop, start_tag(form, text, **kind))
                yield text_slot(form.stop, source[0], text, lambda element: Inline("lone"))
                yield Change(form.stop, form.stop, end_tag(form, text))


def _text(element: Element | None) -> str:
    if element is None:
        return ""
    forms = element.findall("numerusform")
    return "".join((forms[-1] if forms else element).itertext())
