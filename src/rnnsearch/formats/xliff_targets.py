"""Targets of XLIFF 1 and 2: the choice of targets to fill, their new content, and their new states."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import Inline
from rnnsearch.formats.parts import TRANSLATED, Change, Kept, Part
from rnnsearch.formats.xliff_segments import UNFINISHED, has_text, marked, role_1, role_2
from rnnsearch.formats.xml import LocatedElement
from rnnsearch.formats.xml_places import Placed, children, end_tag, start_tag, text_slot


def filled(unit: Placed, found: LocatedElement, text: str, again: bool) -> Iterator[Part]:
    """Yield the parts of a unit that change, in order, and the segments that stay as they are."""
    lines = found.inherited("xml:space") == "preserve"
    version = _of_version_2 if unit.tag == "unit" else _of_version_1
    parts = sorted(version(unit, found, text, again, lines), key=lambda part: part.start)
    if unit.get("approved") == "yes" and not all(isinstance(part, Kept) for part in parts):
        yield Change(unit.start, unit.inner, start_tag(unit, text, approved="no"))
    yield from parts


def _of_version_2(unit: Placed, found: LocatedElement, text: str, again: bool, lines: bool) -> Iterator[Part]:
    for segment in (child for child in unit.iter("segment") if isinstance(child, Placed)):
        source, target = _side(segment, "source"), _side(segment, "target")
        if source is None or not _text(source):
            continue
        if not _to_fill(source, target, segment.get("state", ""), again):
            yield Kept(segment.start, TRANSLATED)
            continue
        # A machine translation has not been reviewed, so it does not get the state `reviewed`.
        yield Change(segment.start, segment.inner, start_tag(segment, text, state="translated", subState=None))
        yield from _target(source, source, target, text, lines)


def _of_version_1(unit: Placed, found: LocatedElement, text: str, again: bool, lines: bool) -> Iterator[Part]:
    source, target, segmented = (_side(unit, name) for name in ("source", "target", "seg-source"))
    if source is None:
        return
    studio = "xmlns:sdl" in (found.above[0] if found.above else unit).attrib
    state = "" if target is None else target.get("state", "")
    segments = {} if segmented is None else marked(segmented)
    states: dict[str, str | None] = (
        {} if studio else {"state": "needs-review-translation", "state_qualifier": "mt-suggestion"}
    )
    if segmented is None or not segments:
        if _to_fill(source, target, state, again):
            yield from _target(source, source, target, text, lines, **states)
        elif _text(source):
            yield Kept(source.start, TRANSLATED)
        return
    locked = {seg.get("id") for seg in _studio_segments(unit) if seg.get("locked") == "true"}
    yield from (Kept(unit.start, "locked") for number in segments if number in locked)
    if target is None or (_is_empty(target) and not locked):
        numbers = segments.keys() - locked
        if not numbers or not has_text(source):
            return
        yield from _target(segmented, segmented, target, text, lines, **states)
    else:
        translated = marked(target)
        numbers = {
            number
            for number, part in segments.items()
            if number in translated and number not in locked and _to_fill(part, translated[number], state, again)
        }
        if numbers and states:
            yield Change(target.start, target.inner, start_tag(target, text, **states))
        done = segments.keys() - numbers - locked
        yield from (Kept(unit.start, TRANSLATED) for number in done if number in translated and _text(segments[number]))
        for number in sorted(numbers, key=list(translated).index):
            yield from _replaced(segments[number], translated[number], text, lines)
    if studio:
        for seg in _studio_segments(unit):
            if seg.get("id") in numbers:
                yield _changed(seg, text, conf="Draft", origin="mt")


def _side(parent: Placed, name: str) -> Placed | None:
    return next(iter(children(parent, name)), None)


def _studio_segments(unit: Placed) -> list[Placed]:
    """Return the elements in which Trados Studio describes the segments of a unit."""
    return [seg for definitions in children(unit, "seg-defs") for seg in children(definitions, "seg")]


def _is_empty(target: Element) -> bool:
    """Whether a target has no text, and its segments are empty; Trados Studio writes tags between empty segments."""
    return not has_text(target) or not ("".join(target.itertext()).strip() or any(map(len, marked(target).values())))


def _to_fill(source: Element, target: Element | None, state: str, again: bool) -> bool:
    """Whether a segment has text to translate, and no translation or, with `again`, any."""
    text = _text(source)
    if not text:
        return False
    if again or target is None or not has_text(target):
        return True
    return state in UNFINISHED and _text(target) == text


def _text(element: Element) -> str:
    return "".join(element.itertext()).strip()


def _target(
    source: Placed, before: Placed, target: Placed | None, text: str, lines: bool, **states: str | None
) -> Iterator[Part]:
    """Yield the parts of a whole target, which replaces the present one or follows `before`, with the same indentation."""
    if target is not None:
        yield Change(target.start, target.stop, start_tag(target, text, **states))
        place, end = target.stop, end_tag(target, text)
    else:
        place = before.stop
        above = text[: before.start]
        indent = above[len(above.rstrip()) :]
        name = end_tag(before, text)[2:-1].replace("seg-source", "target").replace("source", "target")
        attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in states.items())
        yield Change(place, place, f"{indent}<{name}{attributes}>")
        end = f"</{name}>"
    yield from _content(source, place, text, lines)
    yield Change(place, place, end)


def _content(source: Placed, place: int, text: str, lines: bool) -> Iterator[Part]:
    """Yield the content of a source with its segments as slots, or as one slot if it has no segments."""
    segments = [part for part in marked(source).values() if isinstance(part, Placed)]
    if not segments:
        yield text_slot(place, source, text, _role, lines)
        return
    done = source.inner
    for part in segments:
        yield Change(place, place, text[done : part.start] + start_tag(part, text))
        yield text_slot(place, part, text, _role, lines)
        yield Change(place, place, end_tag(part, text))
        done = part.stop
    yield Change(place, place, text[done : source.inner_stop])


def _replaced(source: Element, target: Element, text: str, lines: bool) -> Iterator[Part]:
    assert isinstance(source, Placed)
    assert isinstance(target, Placed)
    yield Change(target.start, target.stop, start_tag(target, text))
    yield text_slot(target.stop, source, text, _role, lines)
    yield Change(target.stop, target.stop, end_tag(target, text))


def _changed(element: Placed, text: str, **attributes: str) -> Change:
    """Return the change of the start tag of an element to other values of attributes; an empty-element tag remains one."""
    tag = start_tag(element, text, **attributes)
    empty = text.startswith("/>", element.inner - 2)
    return Change(element.start, element.inner, f"{tag[:-1]} />" if empty else tag)


def _role(element: Element) -> Inline:
    """Return the role of an inline element of either version; annotations stay around the text that they describe."""
    if element.tag == "mrk":
        return Inline("around")
    version_2 = element.tag in ("pc", "sc", "ec", "cp", "sm", "em")
    return role_2(element) if version_2 else role_1(element)
