"""Inline tags of XML formats, as placeholders in the text of a segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element

from rnnsearch.formats.units import Text


class Inline(NamedTuple):
    """What an inline element is.

    `through`: its content is text, and nothing else matters; `around`: its content is text between a pair of tags; `open`
    and `close`: a tag of a pair; `lone`: a tag by itself; `nothing`: no part of the text. The content of tags is code.
    """

    role: Literal["through", "around", "open", "close", "lone", "nothing"]
    key: str = ""
    """Of a tag: what it has in common with the same tag in other languages, and an opening tag with its closing tag."""


Roles = Callable[[Element], Inline]


def text_of(segment: Element, language: str, role: Roles, numbers: dict[str, int]) -> Text:
    """The text of a segment. `numbers` holds the numbers of the tags of its unit so far, and gets those of new ones."""
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
