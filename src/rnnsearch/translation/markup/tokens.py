"""The division of an HTML document into tokens by the rules of the HTML standard.

Two of these rules depend on the tree that a parser builds: which elements have content that is not markup, and how
`<![CDATA[` is read. Both depend on whether a tag lies in `<svg>`, `<math>`, `<select>` or `<noscript>`, where parsers
differ. Tokens in such elements are not `certain`; if different rules would give different tokens, the rest of the document
becomes one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

VOID = frozenset({
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "image", "img", "input", "keygen",
    "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
"""Elements without content and without an end tag."""

RAW = frozenset({
    "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp",
})  # fmt: skip
"""Elements whose content is not markup."""

_ROOTS = frozenset({"svg", "math"})
"""Elements whose content is in another language than HTML."""

_INTEGRATION = frozenset({"annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"})
"""Elements of these languages with HTML inside."""

_BREAKOUT = frozenset({
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "font", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s",
    "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
})  # fmt: skip
"""HTML elements whose start tags close open elements of other languages."""

_SPACE = r"\t\n\f\r "
_ATTRIBUTE = (
    rf"(?P<name>[^{_SPACE}/>][^{_SPACE}/>=]*+)(?:(?![{_SPACE}]*+=)|[{_SPACE}]*+=[{_SPACE}]*+"
    rf"""(?P<value>"[^"]*+"|'[^']*+'|[^{_SPACE}"'>][^{_SPACE}>]*+|(?=>)))"""
)
_WITHOUT_GROUPS = re.sub(r"\?P<\w+>", "?:", _ATTRIBUTE)
# Text without a match is a token without an end. Possessive quantifiers keep the search linear in time.
_TOKEN = re.compile(
    rf"""(?P<text>(?:[^<]++|<(?![a-zA-Z/!?]))++)
    |<(?P<slash>/?)(?P<name>[a-zA-Z][^{_SPACE}/>]*+)(?:[{_SPACE}/]++|{_WITHOUT_GROUPS})*+>
    |<!--(?:-?>|(?s:.*?)--!?>)
    |(?P<doctype><!(?i:doctype)[^>]*+>)
    |<(?:!(?!--)|\?|/(?![a-zA-Z]))[^>]*+>""".replace("\n    ", "")
)
_CDATA = r"<!\[CDATA\[[^<]*?\]\]>"
_SECTION = re.compile(_CDATA)
_WITHOUT_MARKUP = re.compile(rf"[^<]*(?:{_CDATA}[^<]*)*")
_END_OF_RAW = {name: re.compile(rf"(?ai)</{name}(?=[{_SPACE}/>])") for name in RAW} | {"plaintext": re.compile("(?!)")}
_IN_SCRIPT = re.compile(rf"(?ai)<!--|-->|<(?P<slash>/?)script(?=[{_SPACE}/>])")
_END_OF_NOSCRIPT = re.compile("(?ai)</noscript")
_NAME = re.compile(rf"<[^{_SPACE}/>]*")
_VALUE = re.compile(_ATTRIBUTE)


class Token(NamedTuple):
    """A part of a document."""

    kind: Literal["text", "start", "end", "empty", "comment", "doctype", "raw", "rest"]
    """`empty` is a tag that is a whole element, `raw` the content of an element of `RAW`, and `rest` a token that has no end
    or is ambiguous, with everything after it."""
    raw: str
    name: str = ""
    """The name of a tag, in lower case."""
    certain: bool = True
    foreign: bool = False
    """Whether it is a tag within `<svg>` or `<math>`."""


class Attribute(NamedTuple):
    """An attribute of a tag."""

    name: str
    """The name, in lower case."""
    value: str
    """The value as it is written, without quotation marks."""
    start: int
    """The span of its value in the tag, including quotation marks."""
    stop: int


def attributes(tag: str) -> list[Attribute]:
    """Return the attributes of a start tag that have a value, in order; of two with the same name, only the first counts."""
    by_name: dict[str, Attribute] = {}
    for match in _within(tag):
        name, value = _lower(match["name"]), match["value"] or ""
        bare = value[1:-1] if value[:1] in ("'", '"') else value
        by_name.setdefault(name, Attribute(name, bare, *match.span("value")))
    return [attribute for attribute in by_name.values() if attribute.value]


def _within(tag: str) -> Iterator[re.Match[str]]:
    """Return the matches of the attributes in a tag."""
    name = _NAME.match(tag)
    return _VALUE.finditer(tag, name.end() if name else 0)


def tokens(document: str) -> list[Token]:
    """Return the tokens of a document, in order; their concatenation is the document."""
    reader = _Reader(document)
    result: list[Token] = []
    at = 0
    while at < len(document):
        token = reader.token(at)
        if token is None:
            result.append(Token("rest", document[at:], certain=False))
            break
        result.append(token)
        at += len(token.raw)
    return result


class _Reader:
    """The state of the tokeniser at the current position."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._raw = ""  # the element of `RAW` whose start tag was read last
        self._root = ""  # the open element of another language, its depth, and the element of `_INTEGRATION` in it
        self._depth = 0
        self._integration = ""
        self._select = self._noscript = False
        self._lost = False  # whether the open elements are no longer known

    def token(self, at: int) -> Token | None:
        """Return the token that begins here; None if it has no end, or not by every set of rules."""
        document = self._document
        if self._raw:
            name, self._raw = self._raw, ""
            stop = _end_of_script(document, at) if name == "script" else _first(_END_OF_RAW[name], document, at)
            if stop is None or ((self._root or self._uncertain) and not _WITHOUT_MARKUP.fullmatch(document, at, stop)):
                return None
            if stop > at:
                raw = document[at:stop]
                is_text = name == "title" and not (self._uncertain and "<" in raw)
                return self._checked(Token("text" if is_text else "raw", raw, certain=not self._uncertain))
        if (self._root or self._uncertain) and document.startswith("<![CDATA[", at):
            section = _SECTION.match(document, at)
            return section and self._checked(Token("comment", section[0], certain=not self._uncertain))
        match = _TOKEN.match(document, at)
        return match and self._checked(self._made(match))

    @property
    def _uncertain(self) -> bool:
        return self._lost or self._select or self._noscript

    def _checked(self, token: Token) -> Token | None:
        """Return the token, unless `</noscript>` is in it, because the content of `<noscript>` need not be markup."""
        hides = self._noscript and token.kind != "text" and _END_OF_NOSCRIPT.search(token.raw)
        return None if hides else token

    def _made(self, match: re.Match[str]) -> Token:
        raw = match[0]
        if not match["name"]:
            kind: Literal["text", "doctype", "comment"]
            kind = "text" if match["text"] else "doctype" if match["doctype"] else "comment"
            return Token(kind, raw, certain=not self._uncertain)
        name = _lower(match["name"])
        foreign = bool(self._root)
        if match["slash"]:
            self._end(name)
            return Token("end", raw, name, not self._uncertain, foreign)
        closed = (foreign or name in _ROOTS) and _closes_itself(raw)
        self._start(name, closed)
        empty = name in VOID or (closed and not self._raw)
        return Token("empty" if empty else "start", raw, name, not self._uncertain, foreign)

    def _start(self, name: str, closed: bool) -> None:
        if self._root:
            self._lost |= bool(self._integration) or name in _BREAKOUT
        self._lost |= name == "frameset" or (name == "template" and self._select)
        self._select |= name == "select"
        self._noscript |= name == "noscript"
        if name in RAW and (self._uncertain or not closed):
            self._raw = name
        if closed:
            return
        if not self._root and name in _ROOTS:
            self._root, self._depth, self._integration = name, 1, ""
        elif self._root == name:
            self._depth += 1
        elif self._root and name in _INTEGRATION:
            self._integration = name

    def _end(self, name: str) -> None:
        if name == "select":
            self._select = False
        elif name == "noscript":
            self._noscript = False
        elif name == self._integration:
            self._integration = ""
        elif self._root == name:
            self._depth -= 1
            self._root = self._root if self._depth else ""


def _end_of_script(document: str, at: int) -> int | None:
    """Return the position of the end tag of a script; a comment in which another script starts cannot contain it."""
    commented = nested = False
    while match := _IN_SCRIPT.search(document, at):
        at = match.end()
        if match[0] == "<!--":
            at -= 2  # the same dashes can also end the comment
            commented = True
        elif match[0] == "-->":
            commented = nested = False
        elif match["slash"] and not nested:
            return match.start()
        else:
            nested = commented and not match["slash"]
    return None


def _first(pattern: re.Pattern[str], document: str, at: int) -> int | None:
    match = pattern.search(document, at)
    return match and match.start()


def _closes_itself(tag: str) -> bool:
    """Return whether a tag ends with a slash that is not part of a value."""
    end = max((match.end() for match in _within(tag)), default=0)
    return tag[end:].endswith("/>")


def _lower(name: str) -> str:
    """Convert ASCII letters to lower case, as parsers do; `str.lower` also maps some other letters to ASCII."""
    return name.lower() if name.isascii() else name
