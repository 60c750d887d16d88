"""The text of Word documents: paragraphs, whose runs of other formats are inline elements of the text.

Word divides a paragraph into runs wherever something was edited, checked or formatted. Here, neighbouring runs of the same
format are one; the format that most of a paragraph has is plain text, and every other one is an element around its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal
from xml.etree.ElementTree import Element

from rnnsearch.formats.parts import Codes, Part, in_place
from rnnsearch.formats.xml import encoding_of_xml
from rnnsearch.formats.xml_places import Placed, children, placed_elements

_BREAKS = ("br", "cr", "tab", "ptab")
_IGNORED = ("lastRenderedPageBreak", "proofErr", "softHyphen")
"""Elements for the internal use of Word, and places where a word may be divided."""
_AROUND = ("customXml", "hyperlink", "ins", "moveTo", "sdtContent", "smartTag")
"""Elements around runs."""
_UNSEEN = re.compile(r"<(?:\w+:)?(?:lang|noProof)\b[^<>]*/>|<(\w+:)?rPrChange\b[^<>]*>.*?</\1?rPrChange>", re.DOTALL)
"""Properties of a run that do not change its appearance, and records of what they were before."""


@dataclass(frozen=True)
class _Run:
    """Text of one format."""

    format: str
    text: str


@dataclass(frozen=True)
class _Break:
    """The end of a line, or a tab; the texts before and after it are translated separately."""

    code: str


@dataclass(frozen=True)
class _Other:
    """A piece that is not text, such as a picture or the number of a footnote."""

    code: str


@dataclass(frozen=True)
class _Around:
    """A run within another element, such as a link."""

    start: str
    run: _Run
    end: str


_Piece = _Run | _Break | _Other | _Around


class WordPart:
    """The XML of a document, a header, a footer or notes in the package of a Word document."""

    name: ClassVar[str] = "Word"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "xmlcharrefreplace"

    def encoding(self, content: bytes) -> str:
        """Return the encoding of the XML."""
        return encoding_of_xml(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the paragraphs, also those in text boxes. Fields and deleted text do not change."""
        for paragraph, _ in placed_elements(text, path, ("p",)):
            yield from _of_paragraph(paragraph, text)


def _of_paragraph(paragraph: Placed, text: str) -> Iterator[Part]:
    """Yield the slots of a paragraph; a text box divides it, for it is within the paragraph where it is anchored."""
    inside = [child for child in paragraph if isinstance(child, Placed)]
    properties = next((child for child in inside if child.tag == "pPr"), None)
    place = paragraph.inner if properties is None else properties.stop
    prefix = _prefix(paragraph, text)
    group: list[Placed] = []
    for child in (child for child in inside if child.start >= place):
        if boxed := list(_boxed(child)):
            yield from _of_group(group, place, child.start, text, prefix)
            for one in boxed:
                yield from _of_paragraph(one, text)
            group, place = [], child.stop
        else:
            group.append(child)
    yield from _of_group(group, place, paragraph.inner_stop, text, prefix)


def _boxed(element: Element, inside: bool = False) -> Iterator[Placed]:
    """Yield the outermost paragraphs in the text boxes of an element."""
    for child in element:
        if inside and child.tag == "p" and isinstance(child, Placed):
            yield child
        else:
            yield from _boxed(child, inside or child.tag == "txbxContent")


def _of_group(group: Sequence[Placed], start: int, stop: int, text: str, prefix: str) -> Iterator[Part]:
    """Yield the slot of a part of a paragraph, if there are words in it."""
    pieces = list(_pieces(group, text))
    if any(letter.isalpha() for piece in pieces for letter in _text_of(piece)):
        yield _slot(start, text[start:stop], pieces, prefix)


def _text_of(piece: _Piece) -> str:
    run = piece.run if isinstance(piece, _Around) else piece
    return run.text if isinstance(run, _Run) else ""


def _prefix(element: Placed, text: str) -> str:
    """Return the prefix of the names of Word's elements, usually `w:`."""
    match = re.match(r"<([\w.-]+:)?", text[element.start : element.inner])
    return (match[1] if match else "") or ""


def _pieces(inside: Sequence[Placed], text: str) -> Iterator[_Piece]:
    """Yield the pieces of a paragraph. A field, from its beginning to its end, is one piece that is not text."""
    depth, began = 0, 0
    for child in inside:
        characters = (one.attrib.items() for one in child.iter("fldChar"))
        fields = [value for each in characters for name, value in each if name.endswith("fldCharType")]
        if fields and not depth:
            began = child.start
        before, depth = depth, max(0, depth + fields.count("begin") - fields.count("end"))
        if depth:
            continue
        if before or fields:
            yield _Other(text[began : child.stop])
        elif child.tag == "r":
            yield from _of_run(child, text)
        elif child.tag not in _IGNORED:
            yield from _around(child, text)
    if depth:  # the field ends in another paragraph
        yield _Other(text[began : inside[-1].stop])


def _of_run(run: Placed, text: str) -> Iterator[_Piece]:
    properties = next(iter(children(run, "rPr")), None)
    form = "" if properties is None else text[properties.start : properties.stop]
    for child in run:
        if not isinstance(child, Placed) or child is properties or child.tag in _IGNORED:
            continue
        code = text[child.start : child.stop]
        if child.tag == "t" and not len(child):
            yield _Run(form, re.sub("[\t\n\r]", " ", text[child.inner : child.inner_stop]))
        elif child.tag == "noBreakHyphen":
            yield _Run(form, "-")
        elif child.tag in _BREAKS:
            yield _Break(code)
        else:
            prefix = _prefix(run, text)
            yield _Other(f"<{prefix}r>{form}{code}</{prefix}r>")


def _around(element: Placed, text: str) -> Iterator[_Piece]:
    """Yield the pieces of an element around runs, such as a link, each within its tags; runs in a row are one piece.

    An element with fields is a piece without text, and so is a content control with more than runs, which must not be
    divided.
    """
    within = next(iter(children(element, "sdtContent")), None) if element.tag == "sdt" else element
    whole = text[element.start : element.stop]
    if within is None or within.tag not in _AROUND or re.search(r"<(?:\w+:)?(?:fldChar|instrText|fldSimple)\b", whole):
        yield _Other(whole)
        return
    start, end = text[element.start : within.inner], text[within.inner_stop : element.stop]
    pieces = list(_pieces([child for child in within if isinstance(child, Placed)], text))
    if not pieces or (element.tag == "sdt" and not all(isinstance(piece, _Run) for piece in pieces)):
        yield _Other(whole)
        return
    for are_runs, group in groupby(pieces, lambda piece: isinstance(piece, _Run)):
        if are_runs:
            runs = [piece for piece in group if isinstance(piece, _Run)]
            yield _Around(start, _Run(runs[0].format, "".join(run.text for run in runs)), end)
            continue
        for piece in group:
            match piece:
                case _Around():
                    yield _Around(start + piece.start, piece.run, piece.end + end)
                case _Other():
                    yield _Other(start + piece.code + end)
                case _:
                    yield piece


def _slot(start: int, raw: str, pieces: Sequence[_Piece], prefix: str) -> Part:
    """Return the slot of a paragraph's content.

    The most frequent format of the paragraph is plain text, and other formats are elements around their text. The
    translation is converted back to runs.
    """
    codes = Codes(raw)
    amounts = Counter[str]()
    for piece in pieces:
        if isinstance(piece, _Run):
            amounts[_seen(piece.format)] += len(piece.text)
    base = amounts.most_common(1)[0][0] if amounts else ""
    usual = next((one.format for one in pieces if isinstance(one, _Run) and _seen(one.format) == base), "")
    opening, opened = f'<{prefix}t xml:space="preserve">', f"</{prefix}t>"
    first, last = f"<{prefix}r>{usual}{opening}", f"{opened}</{prefix}r>"
    breaks = [piece.code for piece in pieces if isinstance(piece, _Break)]
    lines: list[str] = []
    for piece in _merged(pieces):
        match piece:
            case _Run() if _seen(piece.format) == base:
                lines.append(piece.text)
            case _Run():
                lines.append(codes.around(f"{last}<{prefix}r>{piece.format}{opening}", piece.text, f"{last}{first}"))
            case _Around():
                begin = f"{last}{piece.start}<{prefix}r>{piece.run.format}{opening}"
                lines.append(codes.around(begin, piece.run.text, f"{last}{piece.end}{first}"))
            case _Break():
                lines.append("\n")
            case _Other():
                lines.append(codes.alone(f"{last}{piece.code}{first}"))

    def written(translation: str) -> str:
        rest = iter(breaks)
        parts = translation.split("\n")
        xml = parts[0] + "".join(f"{opened}{next(rest)}{opening}{part}" for part in parts[1:])
        xml = f"{first}{codes.restored(xml)}{last}".replace(f"{opening}{opened}", "")
        return xml.replace(f"<{prefix}r>{usual}</{prefix}r>", "")

    return in_place(start, raw, "".join(lines), written, "xml")


def _merged(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield the pieces, with neighbouring runs of the same format as one."""
    last: _Run | None = None
    for piece in pieces:
        if isinstance(piece, _Run) and last is not None and _seen(piece.format) == _seen(last.format):
            last = _Run(last.format, last.text + piece.text)
            continue
        if last is not None:
            yield last
        last = piece if isinstance(piece, _Run) else None
        if last is None:
            yield piece
    if last is not None:
        yield last


def _seen(form: str) -> str:
    """Return the visible part of a format."""
    seen = _UNSEEN.sub("", form)
    return "" if re.fullmatch(r"<(?:\w+:)?rPr\s*(?:/>|>\s*</(?:\w+:)?rPr>)", seen) else seen
