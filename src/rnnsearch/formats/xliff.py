"""XLIFF 1.1, 1.2 and 2.x, and the variants of XLIFF 1.2 of Trados Studio and memoQ (SDLXLIFF, MQXLIFF)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal
from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import text_of
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Kept, Part
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit
from rnnsearch.formats.xliff_segments import NO_TRANSLATION, NOT_TO_TRANSLATE, UNFINISHED, has_text, marked, role_1, role_2
from rnnsearch.formats.xliff_targets import filled
from rnnsearch.formats.xml import LocatedElement, elements, encoding_of_xml, root_of
from rnnsearch.formats.xml_places import placed_elements


class Xliff:
    """`trans-unit` elements of XLIFF 1, or `segment` elements in `unit` elements of XLIFF 2."""

    name: ClassVar[str] = "XLIFF"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `xliff`."""
        return root_of(head) == "xliff"

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the segments, each with its source and its target."""
        for found in elements(file, path, ("trans-unit", "unit")):
            translatable = found.inherited("translate") != "no"
            for source, target, state in _segments(found.element):
                reason = None
                if not translatable:
                    reason = NOT_TO_TRANSLATE
                elif target is None or not has_text(target):
                    reason = NO_TRANSLATION
                elif state in UNFINISHED:
                    reason = f"in the state {state}"
                yield Unit(found.line, _texts(found, source, target, "trans-unit" in found.element.tag), reason)

    def encoding(self, content: bytes) -> str:
        """Return the encoding of the XML."""
        return encoding_of_xml(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the targets that are missing, empty, or copies of the source, and the states of their segments."""
        for unit, found in placed_elements(text, path, ("trans-unit", "unit")):
            if found.inherited("translate") == "no":
                yield Kept(unit.start, NOT_TO_TRANSLATE)
            else:
                yield from filled(unit, found, text, again)


def _segments(unit: Element) -> Iterator[tuple[Element, Element | None, str]]:
    """Yield source, target and the state of the target for each segment of a unit."""
    if unit.tag == "unit":
        for segment in unit.iter("segment"):
            if (source := segment.find("source")) is not None:
                yield source, segment.find("target"), segment.get("state", "")
        return
    source, target = unit.find("source"), unit.find("target")
    if source is None:
        return
    state = "" if target is None else target.get("state", "")
    segmented = unit.find("seg-source")
    parts = {} if segmented is None else marked(segmented)
    translated = {} if target is None else marked(target)
    if not parts or (target is not None and has_text(target) and not translated):  # the target is not divided
        yield source, target, state
        return
    for number, part in parts.items():
        yield part, translated.get(number), state


def _texts(found: LocatedElement, source: Element, target: Element | None, first_version: bool) -> list[Text]:
    names = ("source-language", "target-language") if first_version else ("srcLang", "trgLang")
    languages = found.inherited(names[0]) or SOURCE, found.inherited(names[1])
    if languages[1] is None:
        languages = languages[0], (None if target is None else target.get("xml:lang")) or TARGET
    role, numbers = (role_1 if first_version else role_2), dict[str, int]()
    texts = [text_of(source, languages[0], role, numbers)]
    if target is not None:
        texts.append(text_of(target, languages[1] or TARGET, role, numbers))
    return texts
