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
"""The characters that separate words in HTML."""

VERBATIM = (RAW - {"title"}) | {"code", "kbd", "math", "pre", "samp", "svg", "var"}
"""Elements whose content is not translated, like that of any element with `translate="no"`."""

REOPENED = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""Elements without an end tag that parsers reopen in the following text, but at most three equal ones."""

MOST_NESTED = 20
"""The largest depth of nested elements within running text; the tags of outer elements are not moved."""

MOST_SEAMS = 20
"""The largest number of tags within running text that are not moved; the next one ends a sentence."""

_BARRIERS = frozenset({
    "applet", "caption", "marquee", "noscript", "object", "select", "table", "td", "template", "th",
})  # fmt: skip
_MOST_BLOCKS = 8
"""The largest number of open blocks within an `<a>` that its end tag can close."""


class Piece(NamedTuple):
    """A part of a document."""

    kind: Literal["text", "start", "end", "alone", "verbatim", "loose", "seam", "break"]
    """`start` and `end` are tags within running text; `alone` is a part without words, such as a comment or an image;
    `verbatim` is an element that is not translated; `loose` is a tag within running text whose counterpart is outside of it;
    `seam` is a group of such tags between two words of a sentence; `break` is markup that ends a sentence."""
    raw: str
    text: str = ""
    """The text of the piece, without markup."""
    tag: str = ""
    """The start tag at its beginning, if the attributes of the tag may be translated."""


def pieces(document: str) -> list[Piece]:
    """Return the pieces of a document; their concatenation is the document.

    A well-nested element within running text may be moved within this text, because a parser then still builds the same
    element. A tag of an inline element that is not well nested is `loose`; all other tags are breaks. Raises RnnsearchError
    for a character reference of thousands of digits.
    """
    document_tokens = tokens(document)
    ends = _ends(document_tokens)
    starts = {end: start for start, end in ends.items()}
    pieces: list[Piece] = []
    place = 0
    while place < len(document_tokens):
        token = document_tokens[place]
        stop = place + 1
        if token.kind == "start" and (token.name in VERBATIM or _stays(token)):
            stop = _end_of_verbatim(document_tokens, place)
            within = ends.get(place) == stop - 1
            pieces.append(_joined("verbatim" if within else "break", document_tokens[place:stop], place in ends))
        elif token.name == "sup" and place in ends and not _has_letters(document_tokens[place : ends[place]]):
            stop = ends[place] + 1
            pieces.append(_joined("alone", document_tokens[place:stop], True))
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
    """Replace loose tags by seams if there is text with words on both sides, and by breaks elsewhere.

    Between two tags that are not moved, the translation has text exactly if the document has some, because a parser may
    reopen elements before a text.
    """
    seams, left = 0, False
    joint: list[Piece] = []
    for kind, group in groupby([*pieces, Piece("break", "")], key=_part):
        document_tokens = list(group)
        if kind == "loose" or (kind == "text" and joint and _is_blank(document_tokens)):
            joint += document_tokens
            continue
        right = kind == "text" and _has_words(document_tokens)
        if joint:
            is_seam = left and right and seams < MOST_SEAMS
            seams = seams + 1 if is_seam else 0
            text = "".join(piece.text for piece in joint if piece.kind == "text")
            yield Piece("seam" if is_seam else "break", "".join(piece.raw for piece in joint), text)
            joint = []
        elif kind == "break":
            seams = 0
        left = right
        yield from document_tokens


def _part(piece: Piece) -> str:
    return piece.kind if piece.kind in ("loose", "break") else "text"


def _is_blank(pieces: Sequence[Piece]) -> bool:
    """Return whether these pieces of text contain only spaces for a parser."""
    return not any(piece.kind == "verbatim" or (piece.kind == "text" and piece.text.strip(HTML_SPACES)) for piece in pieces)


def _has_words(pieces: Sequence[Piece]) -> bool:
    return any(piece.kind == "text" and piece.text.replace("\0", " ").strip() for piece in pieces)


def _ends(document_tokens: Sequence[Token]) -> dict[int, int]:
    """Return the positions of the start tags of elements within running text, with those of their end tags."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    links = _Links()
    for place, token in enumerate(document_tokens):
        alone = token.foreign or links.passes(token)
        within = token.certain and (token.name in WITHIN_TEXT or token.foreign or not token.name)
        if not within or token.kind in ("doctype", "rest"):
            opened = []
        elif token.kind == "start":
            opened = [*opened[1 - MOST_NESTED :], place] if alone else []
        elif token.kind == "end" and token.name not in VOID:
            if opened and document_tokens[opened[-1]].name == token.name:
                ends[opened.pop()] = place
            else:
                opened = []
    return ends


class _Links:
    """The open `<a>`: another `<a>` inside it closes it, and parsers may reopen it afterwards."""

    def __init__(self) -> None:
        self._open = self._lost = False
        self._blocks = 0
        """The number of open blocks in it; more than the limit if its end tag may not be able to close one of them."""

    def passes(self, token: Token) -> bool:
        """Process a tag; return False if it begins an `<a>` that may be inside another one."""
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
    """Return whether a tag has `translate="no"`."""
    if "translate" not in token.raw.lower():
        return False
    document_tokens = attributes(token.raw)
    return any(attribute.name == "translate" and decoded(attribute.value).lower() == "no" for attribute in document_tokens)


def _end_of_verbatim(document_tokens: Sequence[Token], place: int) -> int:
    """Return the position after the element that begins at `place`; the end of the document if it is not closed."""
    depth = 0
    for stop in range(place, len(document_tokens)):
        if document_tokens[stop].name == document_tokens[place].name:
            depth += (document_tokens[stop].kind == "start") - (document_tokens[stop].kind == "end")
            if not depth:
                return stop + 1
    return len(document_tokens)


def _is_loose(token: Token) -> bool:
    """Return whether this is a tag within running text that is not part of a well-nested element."""
    return token.certain and not token.foreign and token.kind in ("start", "end") and token.name in WITHIN_TEXT


def _is_empty(token: Token) -> bool:
    """Return whether this is a tag of an element without content in running text, or a wrong end tag of such an element."""
    return token.name in WITHIN_TEXT and (token.kind == "empty" or (token.kind == "end" and token.name in VOID))


def _has_letters(document_tokens: Sequence[Token]) -> bool:
    return any(letter.isalpha() for token in document_tokens for letter in _text(token))


def _joined(kind: Literal["verbatim", "alone", "break"], document_tokens: Sequence[Token], paired: bool) -> Piece:
    text = "" if kind == "break" else "".join(map(_text, document_tokens))
    return Piece(kind, "".join(token.raw for token in document_tokens), text, _tag(document_tokens[0], paired))


def _text(token: Token) -> str:
    return token.raw if token.kind == "raw" else decoded(token.raw) if token.kind == "text" else ""


def _tag(token: Token, paired: bool) -> str:
    """Return the tag if its attributes may be translated; this must not change whether two elements are equal."""
    if token.kind not in ("start", "empty") or _stays(token) or (token.name in REOPENED and not paired):
        return ""
    return token.raw


def decoded(raw: str) -> str:
    """Return text with character references decoded. Raises RnnsearchError for one of thousands of digits."""
    try:
        return html.unescape(raw)
    except ValueError as error:
        raise RnnsearchError(
            f"the HTML cannot be parsed: {shown(str(error))}; write &lt; and &amp; for < and & in text"
        ) from None


def escaped(text: str) -> str:
    """Return text with special characters escaped for HTML."""
    return html.escape(text, quote=False).replace("\xa0", "&#160;").replace("\u2060", "&#8288;")
