"""The resources of Android and .NET."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal
from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import Inline, text_of
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Codes, Kept, Part, in_place
from rnnsearch.formats.units import BETWEEN, SOURCE, Head, Message, Text, ending, without_surrogates
from rnnsearch.formats.xliff_segments import NOT_TO_TRANSLATE
from rnnsearch.formats.xml import elements, encoding_of_xml, root_of
from rnnsearch.formats.xml_places import SECTION, Placed, children, coded, content_in_place, placed_elements, within_section


class Android:
    """String resources of Android: strings, plurals and arrays."""

    name: ClassVar[str] = "Android strings"
    places: ClassVar[str] = "line"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"
    _escape = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(.))|"', re.DOTALL)
    """An escape, or a quotation mark around text whose white space is kept."""
    _written = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\t": "\\t"})
    _reference = re.compile(r"[@?][\w.:+]*/?[\w.]+")
    _spaces = re.compile("[ \t\n\r]+")
    """White space that is one space in a string; a no-break space is a part of the text."""

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `resources`."""
        return root_of(head) == "resources"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings, each quantity of a plural and each item of an array by itself."""
        for found in elements(file, path, ("string", "plurals", "string-array")):
            element = found.element
            name = f"{element.tag}{BETWEEN}{element.get('name', '')}"
            kept = element.get("translatable") == "false"
            for number, item in enumerate([element] if element.tag == "string" else element.iter("item")):
                key = name if item is element else f"{name}{BETWEEN}{item.get('quantity', number)}"
                is_reference = self._reference.fullmatch("".join(item.itertext()).strip())
                reason = NOT_TO_TRANSLATE if kept else "a reference to another string" if is_reference else None
                yield Message(key, found.line, self._text(item), reason)

    def encoding(self, content: bytes) -> str:
        """Return the encoding of the XML."""
        return encoding_of_xml(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the strings and items, except references such as `@string/name`."""
        for element, _ in placed_elements(text, path, ("string", "plurals", "string-array")):
            if element.get("translatable") == "false":
                yield Kept(element.start, NOT_TO_TRANSLATE)
                continue
            for one in [element] if element.tag == "string" else children(element, "item"):
                if not self._reference.fullmatch(text[one.inner : one.inner_stop].strip()):
                    yield self._slot(one, text)

    def _slot(self, element: Placed, text: str) -> Part:
        raw = text[element.inner : element.inner_stop]
        start, codes = element.inner, Codes(raw)
        if section := SECTION.fullmatch(raw):
            start, raw = start + section.start(2), section[2]
        quote = '"' if len(raw.strip()) > 1 and raw.strip()[0] == raw.strip()[-1] == '"' else ""

        def unescape(part: str) -> str:
            if not quote:
                part = self._spaces.sub(" ", part)
            return without_surrogates(self._escape.sub(self._unescape, part))

        def written(translation: str) -> str:
            escaped = codes.restored(translation.translate(self._written))
            return quote + (f"\\{escaped}" if escaped.startswith(("@", "?")) and not quote else escaped) + quote

        if section is None:
            return in_place(start, raw, coded(element, text, _android_role, codes, unescape), written, "xml")
        return in_place(start, raw, codes.placeholders(unescape(raw)), lambda new: within_section(written(new)))

    def _text(self, element: Element) -> Text:
        text = text_of(element, SOURCE, _android_role, {})
        plain = text.text.strip()
        return Text(SOURCE, self._escape.sub(self._unescape, plain), text.tagged)

    @staticmethod
    def _unescape(match: re.Match[str]) -> str:
        if match[0] == '"':
            return ""
        return chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t"}.get(match[2], match[2])


def _android_role(element: Element) -> Inline:
    """Return the role of an inline element: markup such as `b` is a pair of tags; `xliff:g` only describes its content."""
    return Inline("through") if element.tag == "g" else Inline("around", element.tag)


class ResX:
    """Resources of .NET."""

    name: ClassVar[str] = "ResX"
    places: ClassVar[str] = "line"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"

    def recognises(self, head: Head) -> bool:
        """Whether it is XML with the root `root` and has a schema or a header of ResX, or its name ends in `.resx`."""
        if root_of(head) != "root":
            return False
        return ending(head) in (".resx", ".resw") or any(
            mark in head.text for mark in ("<resheader", "<data name=", "msdata")
        )

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings."""
        for found in elements(file, path, ("data",)):
            if (value := _value(found.element)) is not None:
                yield Message(found.element.get("name", ""), found.line, Text(SOURCE, "".join(value.itertext())))

    def encoding(self, content: bytes) -> str:
        """Return the encoding of the XML."""
        return encoding_of_xml(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the strings."""
        for element, _ in placed_elements(text, path, ("data",)):
            value = _value(element)
            if isinstance(value, Placed):
                yield content_in_place(value, text, _android_role)


def _value(data: Element) -> Element | None:
    """Return the `value` element of an entry that is a translatable string; None for other entries."""
    is_string = data.get("type", "System.String").startswith("System.String")
    if not is_string or data.get("name", "").startswith(">>") or "mimetype" in data.attrib:
        return None
    return data.find("value")
