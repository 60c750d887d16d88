"""The elements of an XML document with their positions, and the conversion of their content to texts to translate."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from rnnsearch.formats.inline import Roles
from rnnsearch.formats.parts import Codes, Slot, in_place
from rnnsearch.formats.xml import LocatedElement, Reader

_CHUNK = 1 << 16
_TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*+>""")
_SECTIONS = re.compile(r"<!\[CDATA\[((?:(?!\]\]>).)*)\]\]>", re.DOTALL)
SECTION = re.compile(r"(\s*<!\[CDATA\[)((?:(?!\]\]>).)*)(\]\]>\s*)", re.DOTALL)
"""A content that is a CDATA section: its beginning, its text, and its end."""


class Placed(Element):
    """An element with its position in the text of its document."""

    start: int
    """The position of its start tag."""
    inner: int
    """The position of its content."""
    inner_stop: int
    stop: int
    """The position after its end."""


class _PlacedReader(Reader):
    def __init__(self, path: Path, names: Collection[str], text: str) -> None:
        super().__init__(path, names, "utf-8")
        self.data = text.encode()
        self._document = text
        self._byte = self._place = 0

    def _now(self) -> int:
        """Return the present position of the parser in characters."""
        index = self.parser.CurrentByteIndex
        self._place += len(self.data[self._byte : index].decode())
        self._byte = index
        return self._place

    def _element(self, name: str, attributes: dict[str, str]) -> Element:
        element = Placed(name.rpartition(":")[2], attributes)
        element.start = self._now()
        tag = _TAG.match(self._document, element.start)
        if tag is None:
            raise self.refusal("an element within an entity")
        element.inner = tag.end()
        return element

    def _closed(self, element: Element) -> None:
        assert isinstance(element, Placed)
        if self._document.startswith("/>", element.inner - 2):
            element.inner_stop = element.stop = element.inner
        else:
            element.inner_stop = self._now()
            element.stop = self._document.index(">", element.inner_stop) + 1


def placed_elements(text: str, path: Path, names: Collection[str]) -> Iterator[tuple[Placed, LocatedElement]]:
    """Yield the elements as `rnnsearch.formats.xml.elements` does, with their positions in the text."""
    reader = _PlacedReader(path, names, text)
    for start in range(0, len(reader.data), _CHUNK):
        reader.feed(reader.data[start : start + _CHUNK])
        yield from ((cast(Placed, found.element), found) for found in reader.found)
        reader.found.clear()
    reader.feed(b"", last=True)
    yield from ((cast(Placed, found.element), found) for found in reader.found)


def children(element: Element, name: str) -> list[Placed]:
    """Return the children of an element that have this name."""
    return [child for child in element if isinstance(child, Placed) and child.tag == name]


def start_tag(element: Placed, text: str, **attributes: str | None) -> str:
    """Return the start tag of an element with these values of attributes, and without the attributes that are None."""
    tag = re.sub(r"\s*/>\Z", ">", text[element.start : element.inner])
    for name, value in attributes.items():
        name = name.replace("_", "-")
        tag = re.sub(rf"""\s+{name}\s*=\s*(?:"[^"]*"|'[^']*')""", "", tag)
        if value is not None:
            tag = f'{tag[:-1]} {name}="{value}">'
    return tag


def end_tag(element: Placed, text: str) -> str:
    """Return the end tag of an element."""
    name = re.match(r"<([^\s/>]+)", text[element.start : element.inner])
    assert name is not None
    return f"</{name[1]}>"


def text_slot(place: int, element: Placed, text: str, role: Roles, lines: bool = True) -> Slot:
    """Return a slot at `place` for the translation of the content of an element."""
    raw = text[element.inner : element.inner_stop]
    if section := SECTION.fullmatch(raw):
        before, content, after = section.groups()
        codes = Codes(content)
        return Slot(
            place,
            place,
            codes.placeholders(content),
            lambda new: before + within_section(codes.restored(new)) + after,
            lines=lines,
        )
    codes = Codes(raw)
    return Slot(place, place, coded(element, text, role, codes), codes.restored, "xml", lines)


def content_in_place(element: Placed, text: str, role: Roles) -> Slot:
    """Return the slot of the content of an element that is translated in place; a CDATA section remains one."""
    raw = text[element.inner : element.inner_stop]
    if section := SECTION.fullmatch(raw):
        content = section[2]
        codes = Codes(content)
        start = element.inner + section.start(2)
        return in_place(start, content, codes.placeholders(content), lambda new: within_section(codes.restored(new)))
    codes = Codes(raw)
    return in_place(element.inner, raw, coded(element, text, role, codes), codes.restored, "xml")


def within_section(text: str) -> str:
    """Return a text as a CDATA section has it."""
    return text.replace("]]>", "]]]]><![CDATA[>")


def coded(element: Placed, text: str, role: Roles, codes: Codes, unescape: Callable[[str], str] = str) -> str:
    """Return the content of an element as text, with elements of `codes` for its inline elements."""
    inside = [child for child in element if isinstance(child, Placed)]
    return _coded(inside, (element.inner, element.inner_stop), text, role, codes, unescape)


def _coded(
    inside: Sequence[Placed], span: tuple[int, int], text: str, role: Roles, codes: Codes, unescape: Callable[[str], str]
) -> str:
    parts: list[str] = []
    place, number = span[0], 0
    while number < len(inside):
        child = inside[number]
        parts.append(codes.placeholders(unescape(codes.tags(_without_sections(text[place : child.start])))))
        kind, key = role(child)
        raw = text[child.start : child.stop]
        place, number = child.stop, number + 1
        if child.get("translate") == "no" or child.get("mtype") == "protected" or kind == "through":
            parts.append(codes.kept(raw, unescape("".join(child.itertext())).replace("&", "&amp;")))
        elif kind == "around" and child.inner < child.stop:
            content = coded(child, text, role, codes, unescape)
            parts.append(codes.around(text[child.start : child.inner], content, text[child.inner_stop : child.stop]))
        elif kind == "open" and (close := _closing(inside[number:], key, role)) is not None:
            last = inside[number + close]
            content = _coded(inside[number : number + close], (place, last.start), text, role, codes, unescape)
            parts.append(codes.around(raw, content, text[last.start : last.stop]))
            place, number = last.stop, number + close + 1
        else:
            parts.append(codes.alone(raw))
    parts.append(codes.placeholders(unescape(codes.tags(_without_sections(text[place : span[1]])))))
    return "".join(parts)


def _without_sections(text: str) -> str:
    """Return XML whose CDATA sections are text with references, which is the same for a parser."""
    return _SECTIONS.sub(lambda section: escape(section[1]), text)


def _closing(following: Sequence[Placed], key: str, role: Roles) -> int | None:
    roles = ((number, role(child)) for number, child in enumerate(following))
    return next((number for number, (kind, own) in roles if kind == "close" and own == key), None)
