"""TMX 1.1 to 1.4 (Translation Memory eXchange)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from rnnsearch.formats.inline import Inline, Roles, text_of, unknown
from rnnsearch.formats.languages import primary, same_language
from rnnsearch.formats.opening import File
from rnnsearch.formats.units import NO_TEXT, Head, Text, Unit
from rnnsearch.formats.xml import elements, root_of
from rnnsearch.version import __version__

_ALL = "*all*"
"""The value of `srclang` with which any language may be the source."""
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML does not allow, not even as references."""


class Tmx:
    """Units `tu` with a variant `tuv` for each language, or several for one."""

    name: ClassVar[str] = "TMX"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = None

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `tmx`."""
        return root_of(head) == "tmx"

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the units, the variants in the source language first."""
        srclang = _ALL
        for found in elements(file, path, ("header", "tu")):
            if found.element.tag == "header":
                srclang = found.element.get("srclang", _ALL)
                continue
            numbers: dict[str, int] = {}
            texts = [
                text_of(segment, _language(variant), _roles(), numbers)
                for variant in found.element.iter("tuv")
                if (segment := variant.find("seg")) is not None
            ]
            source = found.element.get("srclang", srclang)
            yield Unit(found.line, _source_first(texts, source), None if texts else NO_TEXT)

    def beginning(self, source: str) -> str:
        """See `WrittenFormat`."""
        tool = f'creationtool="rnnsearch" creationtoolversion={_attribute(__version__)} o-tmf="rnnsearch"'
        about = f'datatype="plaintext" segtype="sentence" adminlang="en" srclang={_attribute(source)}'
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header {tool} {about}/>\n<body>\n'

    def unit(self, texts: dict[str, str]) -> str:
        """See `WrittenFormat`. Tags in texts are written as text, and a character that XML cannot have as U+FFFD."""
        variants = (
            f"<tuv xml:lang={_attribute(language)}><seg>{_content(text)}</seg></tuv>" for language, text in texts.items()
        )
        return f"<tu>{''.join(variants)}</tu>\n"

    def end(self) -> str:
        """See `WrittenFormat`."""
        return "</body>\n</tmx>\n"


def _content(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text), {"\r": "&#13;"})


def _attribute(value: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", value))


def _language(variant: Element) -> str:
    return variant.get("xml:lang") or variant.get("lang") or "und"


def _source_first(texts: list[Text], source: str) -> list[Text]:
    """Sort texts: first those in the source language with its region, then those in it with another one."""
    return sorted(
        texts,
        key=lambda text: (not same_language(text.language, source), primary(text.language) != primary(source)),
    )


def _roles() -> Roles:
    """Return a function that returns the roles of the inline elements of one segment.

    `ept` has the number `i` of its `bpt`. Tags of different variants with the same `x` are the same tag; without `x`, tags
    with the same `i` are.
    """
    opened: dict[str, str] = {}
    lone = count(1)

    def role(element: Element) -> Inline:
        i, x = element.get("i", ""), element.get("x", "")
        match element.tag:
            case "bpt":
                opened[i] = f"pair {x or i}"
                return Inline("open", opened[i])
            case "ept":
                return Inline("close", opened.get(i, f"pair {x or i}"))
            case "ph" | "it" | "ut":
                return Inline("lone", f"{element.tag} {x}" if x else f"number {next(lone)}")
            case "hi":
                return Inline("through")
        return unknown(element)

    return role
