"""Inline tags of XML formats, as placeholders in the text of a segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element

from rnnsearch.formats.units import Text


class Inline(NamedTuple):
    """The role of an inline element in the text of a segment.

    `through`: only its content is part of the text; `around`: its content is text between a pair of tags; `open` and
    `close`: it stands for one tag of a pair; `lone`: it stands for a single tag; `nothing`: it is not part of the text.
    """

    role: Literal["through", "around", "open", "close", "lone", "nothing"]
    key: str = ""
    """The key of a tag, which is the same for this tag in other languages, and for an opening and its closing tag."""


Roles = Callable[[Element], Inline]


def unknown(element: Element) -> Inline:
    """Return the role of an element that a format does not have: if there is text in it, it is around this text.

    Some tools write the elements of HTML as they are, and their content must not be lost.
    """
    if "".join(element.itertext()).strip():
        return Inline("around", f"{element.tag} {element.get('id', '')}")
    return Inline("nothing")


def text_of(segment: Element, language: str, role: Roles, numbers: dict[str, int]) -> Text:
    """Return the text of a segment. `numbers` maps the keys of the tags of its unit to numbers; new tags are added."""
    parts: list[str] = []
    _add(segment, role, numbers, parts)
    text = "".join(parts)
    return Text(language, text, tagged=len(segment) > 0)


def _add(element: Element, role: Roles, numbers: dict[str, int], parts: list[str]) -> None:
    parts.append(element.text or "")
    for child in element:
        kind, key = role(child)
        if kind not in ("through", "nothing"):
            number = numbers.setdefault(key, len(numbers) + 1)
        match kind:
            case "through":
                _add(child, role, numbers, parts)
            case "around":
                parts.append(f"<g{number}>")
                _add(child, role, numbers, parts)
                parts.append(f"</g{number}>")
            case "open":
                parts.append(f"<g{number}>")
            case "close":
                parts.append(f"</g{number}>")
            case "lone":
                parts.append(f"<x{number}/>")
        parts.append(child.tail or "")
