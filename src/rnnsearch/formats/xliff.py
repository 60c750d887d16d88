"""XLIFF 1.1, 1.2 and 2.x, and what Trados Studio and memoQ make of XLIFF 1.2 (SDLXLIFF, MQXLIFF)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import Inline, text_of
from rnnsearch.formats.opening import File
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit
from rnnsearch.formats.xml import Found, elements, root_of

NO_TRANSLATION = "without a translation"
NOT_TO_TRANSLATE = "marked as not to be translated"
_UNFINISHED = ("new", "needs-translation", "initial")
"""The states of targets that nobody has translated: usually copies of the source."""


class Xliff:
    """`trans-unit` elements of XLIFF 1, or `segment` elements in `unit` elements of XLIFF 2."""

    name: ClassVar[str] = "XLIFF"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None

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
                elif target is None or not _has_text(target):
                    reason = NO_TRANSLATION
                elif state in _UNFINISHED:
                    reason = f"in the state {state}"
                yield Unit(found.line, _texts(found, source, target, "trans-unit" in found.element.tag), reason)


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
    parts = {} if segmented is None else _marked(segmented)
    if not parts:
        yield source, target, state
        return
    translated = {} if target is None else _marked(target)
    for number, part in parts.items():
        yield part, translated.get(number), state


def _marked(element: Element) -> dict[str, Element]:
    """The segments that are marked in a source or target of XLIFF 1.2, by their numbers."""
    return {mark.get("mid", ""): mark for mark in element.iter("mrk") if mark.get("mtype") == "seg"}


def _texts(found: Found, source: Element, target: Element | None, first_version: bool) -> list[Text]:
    names = ("source-language", "target-language") if first_version else ("srcLang", "trgLang")
    languages = found.inherited(names[0]) or SOURCE, found.inherited(names[1])
    if languages[1] is None:
        languages = languages[0], (None if target is None else target.get("xml:lang")) or TARGET
    role, numbers = (_role_1 if first_version else _role_2), dict[str, int]()
    texts = [text_of(source, languages[0], role, numbers)]
    if target is not None:
        texts.append(text_of(target, languages[1] or TARGET, role, numbers))
    return texts


def _has_text(element: Element) -> bool:
    return bool("".join(element.itertext()).strip()) or any(child.tag != "mrk" for child in element)


def _role_1(element: Element) -> Inline:
    """The inline elements of XLIFF 1."""
    own = element.get("id", "")
    pair = f"pair {element.get('rid') or own}"
    match element.tag:
        case "g":
            return (
                Inline("around", f"pair {own}")
                if len(element) or (element.text or "").strip()
                else Inline("lone", f"g {own}")
            )
        case "bpt" | "bx":
            return Inline("open", pair)
        case "ept" | "ex":
            return Inline("close", pair)
        case "x" | "ph" | "it":
            return Inline("lone", f"{element.tag} {own}")
        case "mrk":
            return Inline("through")
    return Inline("nothing")


def _role_2(element: Element) -> Inline:
    """The inline elements of XLIFF 2."""
    own = element.get("id", "")
    match element.tag:
        case "pc":
            return Inline("around", f"pair {own}")
        case "sc":
            return Inline("open", f"pair {own}")
        case "ec":
            return Inline("close", f"pair {element.get('startRef') or own}")
        case "ph":
            return Inline("lone", f"ph {own}")
        case "mrk":
            return Inline("through")
    return Inline("nothing")
