"""The contents and the states of segments of XLIFF."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from rnnsearch.formats.inline import Inline, unknown

NO_TRANSLATION = "without a translation"
NOT_TO_TRANSLATE = "marked as not to be translated"
UNFINISHED = ("new", "needs-translation", "initial")
"""The states of targets that nobody has translated: usually copies of the source."""


def marked(element: Element) -> dict[str, Element]:
    """Return the segments that are marked in a source or target of XLIFF 1.2, by their numbers."""
    return {mark.get("mid", ""): mark for mark in element.iter("mrk") if mark.get("mtype") == "seg"}


def has_text(element: Element) -> bool:
    """Whether a source or target contains anything besides empty segments."""
    return bool("".join(element.itertext()).strip()) or any(child.tag != "mrk" for child in element)


def role_1(element: Element) -> Inline:
    """Return the role of an inline element of XLIFF 1."""
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
    return unknown(element)


def role_2(element: Element) -> Inline:
    """Return the role of an inline element of XLIFF 2."""
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
    return unknown(element)
