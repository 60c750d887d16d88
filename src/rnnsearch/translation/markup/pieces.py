"""The tokens of an HTML document as pieces of running text, and the breaks between them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.translation.markup.tokens import RAW, VOID, Token, attributes, tokens

WITHIN_TEXT = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "math", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
    "tt", "u", "var", "wbr",
})  # fmt: skip
"""Elements that stand within running text; the tags of all others end a sentence."""

HTML_SPACES = "\t\n\f\r "
"""What separates words in HTML."""

VERBATIM = (RAW - {"title"}) | {"code", "kbd", "math", "pre", "samp", "svg", "var"}
"""Elements whose content is not translated; neither is that of an element with `translate="no"`."""

REOPENED = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""Elements that parsers open again in what follows, where they have no end tag; not so the fourth of several alike."""

MOST_NESTED = 20
"""So deep may elements be nested within running text; the tags of those around them stay in their place."""

MOST_SEAMS = 20
"""So many tags within running text may stay in their place; the next one ends a sentence."""

_BARRIERS = frozenset({
    "applet", "caption", "marquee", "noscript", "object", "select", "table", "td", "template", "th",
})  # fmt: skip
_MOST_BLOCKS = 8
"""So many blocks within an `<a>` its end tag gets past, where they are still open."""


class Piece(NamedTuple):
    """A part of a document."""

    kind: Literal["text", "start", "end", "alone", "verbatim", "loose", "seam", "break"]
    """`start` and `end` are tags within running text; `alone` is what has no words, as a comment or an image; `verbatim` is
    an element in it that is not translated; `loose` is a tag within running text of which the other one is not; `seam` is
    such tags between two words of a sentence; `break` is markup that ends a sentence."""
    raw: str
    text: str = ""
    """The text in it, without markup."""
    tag: str = ""
    """The start tag that it begins with, if its attributes may be translated."""


def pieces(document: str) -> list[Piece]:
    """The pieces of a document; joined, they are the document.

    An element that lies within running text, well nested, may be moved within it, and a parser finds there what it found
    before. A tag of another such element is `loose`; all other tags are breaks. Raises RnnsearchError for a character
    reference of thousands of digits.
    """
    found = tokens(document)
    ends = _ends(found)
    starts = {end: start for start, end in ends.items()}
    pieces: list[Piece] = []
    place = 0
    while place < len(found):
        token = found[place]
        stop = place + 1
        if token.kind == "start" and (token.name in VERBATIM or _stays(token)):
            stop = _end_of_verbatim(found, place)
            within = ends.get(place) == stop - 1
            pieces.append(_joined("verbatim" if within else "break", found[place:stop], place in ends))
        elif token.name == "sup" and place in ends and not _has_letters(found[place : ends[place]]):
            stop = ends[place] + 1
            pieces.append(_joined("alone", found[place:stop], True))
        elif token.kind == "text":
            pieces.append(Piece("text", token.raw, decoded(token.raw)))
        elif place in ends or place in starts:
            pieces.append(Piece("start" if place in ends else "end", token.raw, tag=_tag(token, place in ends)))
        else:
            alone = token.certain and (token.kind == "comment" or _is_empty(token))
            pieces.append(
                Piece("alone" if alone else "loose" if _is_loose(token) else "break", token.raw, tag=_tag(token, False))
            )
        place = stop
    return pieces


def with_seams(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, but for loose tags: these are seams where a text with words is on both sides, and breaks elsewhere.

    What is translated is moved over a seam as a whole: between two tags that stay in their place, there is text as before,
    or none as before, for it may be that a parser opens elements again before a text.
    """
    seams, left = 0, False
    joint: list[Piece] = []
    for kind, group in groupby([*pieces, Piece("break", "")], key=_part):
        found = list(group)
        if kind == "loose" or (kind == "text" and joint and _is_blank(found)):
            joint += found
            continue
        right = kind == "text" and _has_words(found)
        if joint:
            is_seam = left and right and seams < MOST_SEAMS
            seams = seams + 1 if is_seam else 0
            text = "".join(piece.text for piece in joint if piece.kind == "text")
            yield Piece("seam" if is_seam else "break", "".join(piece.raw for piece in joint), text)
            joint = []
        elif kind == "break":
            seams = 0
        left = right
        yield from found


def _part(piece: Piece) -> str:
    return piece.kind if piece.kind in ("loose", "break") else "text"


def _is_blank(pieces: Sequence[Piece]) -> bool:
    """Whether a parser finds no text in these, but for spaces, where they are pieces of text."""
    return not any(piece.kind == "verbatim" or (piece.kind == "text" and piece.text.strip(HTML_SPACES)) for piece in pieces)


def _has_words(pieces: Sequence[Piece]) -> bool:
    return any(piece.kind == "text" and piece.text.replace("\0", " ").strip() for piece in pieces)


def _ends(found: Sequence[Token]) -> dict[int, int]:
    """The places of the start tags of elements that lie within running text, and of their end tags."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    links = _Links()
    for place, token in enumerate(found):
        alone = token.foreign or links.passes(token)
        within = token.certain and (token.name in WITHIN_TEXT or token.foreign or not token.name)
        if not within or token.kind in ("doctype", "rest"):
            opened = []
        elif token.kind == "start":
            opened = [*opened[1 - MOST_NESTED :], place] if alone else []
        elif token.kind == "end" and token.name not in VOID:
            if opened and found[opened[-1]].name == token.name:
                ends[opened.pop()] = place
            else:
                opened = []
    return ends


class _Links:
    """Which `<a>` is open: one that begins within another ends it, and that may be opened again in what follows."""

    def __init__(self) -> None:
        self._open = self._lost = False
        self._blocks = 0
        """How many blocks are open in it; too many, where its end tag may not get past one of them."""

    def passes(self, token: Token) -> bool:
        """Pass over a tag; whether it does not begin an `<a>` that may be within another."""
        past = self._blocks < _MOST_BLOCKS
        if token.name == "a":
            alone = token.kind == "end" or not (self._open or self._lost)
            self._lost |= self._open and not past
            self._open, self._blocks = token.kind != "end", 0
            return alone
        if token.name in _BARRIERS:
            self._blocks = _MOST_BLOCKS
        elif past and token.name not in WITHIN_TEXT:
            self._blocks += (token.kind == "start") - (token.kind == "end")
        return True


def _stays(token: Token) -> bool:
    """Whether a tag has `translate="no"`."""
    if "translate" not in token.raw.lower():
        return False
    found = attributes(token.raw)
    return any(attribute.name == "translate" and decoded(attribute.value).lower() == "no" for attribute in found)


def _end_of_verbatim(found: Sequence[Token], place: int) -> int:
    """The place after an element that begins at `place`; the end of the document, where it is not closed."""
    depth = 0
    for stop in range(place, len(found)):
        if found[stop].name == found[place].name:
            depth += (found[stop].kind == "start") - (found[stop].kind == "end")
            if not depth:
                return stop + 1
    return len(found)


def _is_loose(token: Token) -> bool:
    """Whether it is a tag within running text that has its place there, though it is not one of a whole element."""
    return token.certain and not token.foreign and token.kind in ("start", "end") and token.name in WITHIN_TEXT


def _is_empty(token: Token) -> bool:
    """Whether it is a tag that is a whole element within running text, or the end tag that such an element does not have."""
    return token.name in WITHIN_TEXT and (token.kind == "empty" or (token.kind == "end" and token.name in VOID))


def _has_letters(found: Sequence[Token]) -> bool:
    return any(letter.isalpha() for token in found for letter in _text(token))


def _joined(kind: Literal["verbatim", "alone", "break"], found: Sequence[Token], paired: bool) -> Piece:
    text = "" if kind == "break" else "".join(map(_text, found))
    return Piece(kind, "".join(token.raw for token in found), text, _tag(found[0], paired))


def _text(token: Token) -> str:
    return token.raw if token.kind == "raw" else decoded(token.raw) if token.kind == "text" else ""


def _tag(token: Token, paired: bool) -> str:
    """The tag, if it is one whose attributes may be translated: whether elements are alike must not depend on it."""
    if token.kind not in ("start", "empty") or _stays(token) or (token.name in REOPENED and not paired):
        return ""
    return token.raw


def decoded(raw: str) -> str:
    """Text without character references; RnnsearchError for one of thousands of digits."""
    try:
        return html.unescape(raw)
    except ValueError as error:
        raise RnnsearchError(
            f"the HTML cannot be parsed: {shown(str(error))}; write &lt; and &amp; for < and & in text"
        ) from None


def escaped(text: str) -> str:
    """Text as it stands in HTML."""
    return html.escape(text, quote=False).replace("\xa0", "&#160;").replace("\u2060", "&#8288;")
