"""XML, and plain text with the tags of translation tools, which are translated as HTML.

Translation tools use their own elements, such as `<g id="1">`, `<x/>`, `<tg12>` or `<a0>`, and all of these are within
running text. Each is replaced by a numbered HTML element, so that `Markup` can place it, and the original tags are restored
in the translation.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from rnnsearch.translation.markup.document import Markup
from rnnsearch.translation.markup.running_text import Aligned

# Possessive quantifiers, and the exclusion of `<` from tags, keep the search linear in time.
_TAG = re.compile(r"""<(?P<slash>/?)(?P<name>[^\W\d][\w.:-]*+)(?=[\s/>])(?:[^<>"']|"[^<"]*+"|'[^<']*+')*+>""")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!": ">"}
"""The beginnings and ends of parts that are neither tags nor text."""
_PLACE = re.compile(r"<(?:img|hr|span|var) id=(?P<number>\d+)>(?:(?P<kept>[^<]*)</var>)?|(?P<end></span>)")


class _Token(NamedTuple):
    raw: str
    kind: str
    """`text`, `start`, `end`, `alone` for an element without content, or `kept` for anything else."""
    name: str = ""


class Tagged:
    """A text with tags and its sentences."""

    def __init__(
        self,
        text: str,
        language: str,
        split: bool = True,
        *,
        xml: bool = True,
        ignored: Collection[str] = (),
        splitting: Collection[str] = (),
    ) -> None:
        """`language` is its code. Running text is cut into sentences if it is to be `split`.

        In `xml`, the text between tags has character references, and an element without text of its own but for white
        space with line breaks is structure: its tags, and those of the elements in it, end a sentence. Otherwise, it is
        plain text. Elements whose names are `ignored` stay as they are. The tags of those whose names are `splitting` end a
        sentence.
        Raises RnnsearchError for a character reference of thousands of digits.
        """
        self._xml = xml
        self._tags: list[tuple[str, str]] = []
        """The start tag and the end tag of each element; the end tag is empty where the element is written as one."""
        document = self._as_html(list(_tokens(text)), frozenset(ignored), frozenset(splitting))
        self._markup = Markup("".join(document), language, split)

    @property
    def sentences(self) -> list[str]:
        """The sentences, without tags."""
        return self._markup.sentences

    def joined(self, translations: Sequence[Aligned]) -> str:
        """Return the text with these translations instead of its sentences."""
        document = self._markup.joined(translations)
        parts: list[str] = []
        opened: list[int] = []
        at = 0
        for match in _PLACE.finditer(document):
            parts.append(self._written(document[at : match.start()]))
            at = match.end()
            if match["end"]:
                parts.append(self._tags[opened.pop()][1])
                continue
            number = int(match["number"])
            parts.append(self._tags[number][0])
            if match[0].startswith("<span"):
                opened.append(number)
        return "".join([*parts, self._written(document[at:])])

    def _written(self, text: str) -> str:
        """Return the text of an HTML document as this text has it."""
        return text if self._xml else html.unescape(text)

    def _as_html(self, tokens: Sequence[_Token], ignored: Collection[str], splitting: Collection[str]) -> Iterator[str]:
        ends = _ends(tokens)
        starts = {end: start for start, end in ends.items()}
        breaks = _around(tokens, ends) | (_structure(tokens, ends) if self._xml else set())
        numbers: dict[int, int] = {}
        place = 0
        while place < len(tokens):
            token = tokens[place]
            stop = place + 1
            if token.kind == "text":
                text = token.raw if self._xml else html.escape(token.raw, quote=False)
                yield text.replace("<", "&lt;").replace(">", "&gt;")
            elif token.name in ignored and place in ends:
                stop = ends[place] + 1
                words = "".join(part.raw for part in tokens[place:stop] if part.kind == "text")
                number = self._number("".join(part.raw for part in tokens[place:stop]))
                yield f"<var id={number}>{words.replace('<', '&lt;').replace('>', '&gt;')}</var>"
            elif token.name in splitting or place in breaks:
                yield f"<hr id={self._number(token.raw)}>"
            elif ends.get(place) == place + 1:  # an element without content
                stop = place + 2
                yield f"<img id={self._number(token.raw + tokens[place + 1].raw)}>"
            elif place in ends:
                numbers[place] = self._number(token.raw, tokens[ends[place]].raw)
                yield f"<span id={numbers[place]}>"
            elif starts.get(place) in numbers:
                yield "</span>"
            else:
                yield f"<img id={self._number(token.raw)}>"
            place = stop

    def _number(self, start: str, end: str = "") -> int:
        self._tags.append((start, end))
        return len(self._tags) - 1


def has_tags(text: str) -> bool:
    """Whether a plain text has tags."""
    return _TAG.search(text) is not None


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a text, in order; joined, they are the text. A `<` that begins nothing is text."""
    last = {end: text.rfind(end) for end in _ENDS.values()}
    start = at = 0
    while (at := text.find("<", at)) >= 0:
        token = _token(text, at, last)
        if token is None:
            at += 1
            continue
        if start < at:
            yield _Token(text[start:at], "text")
        yield token
        start = at = at + len(token.raw)
    if start < len(text):
        yield _Token(text[start:], "text")


def _token(text: str, at: int, last: dict[str, int]) -> _Token | None:
    if match := _TAG.match(text, at):
        kind = "end" if match["slash"] else "alone" if match[0].endswith("/>") else "start"
        return _Token(match[0], kind, match["name"])
    for begin, end in _ENDS.items():
        if text.startswith(begin, at):
            if last[end] < at + len(begin):
                return None
            return _Token(text[at : text.index(end, at + len(begin)) + len(end)], "kept")
    return None


def _ends(tokens: Sequence[_Token]) -> dict[int, int]:
    """Return the places of the start tags that have an end tag, well nested, and those of the end tags.

    A start tag that is not closed within the element around it has none, and an end tag closes the innermost element of its
    name.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    open_names: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.kind == "start":
            opened.append(place)
            open_names[token.name] = open_names.get(token.name, 0) + 1
        elif token.kind == "end" and open_names.get(token.name):
            while True:
                start = opened.pop()
                open_names[tokens[start].name] -= 1
                if tokens[start].name == token.name:
                    ends[start] = place
                    break
    return ends


def _around(tokens: Sequence[_Token], ends: dict[int, int]) -> set[int]:
    """Return the places of the tags of the element that contains the whole text, if there is one."""
    written = [place for place, token in enumerate(tokens) if token.raw.strip()]
    return {written[0], written[-1]} if written and ends.get(written[0]) == written[-1] else set()


def _structure(tokens: Sequence[_Token], ends: dict[int, int]) -> set[int]:
    """Return the places of the tags of the elements that are structure, and of those of the elements in them."""
    starts = {end: start for start, end in ends.items()}
    inside: list[list[int]] = [[]]
    """For each open element, the places of its own texts and of the tags of the elements in it."""
    structure: set[int] = set()
    for place in range(len(tokens)):
        if place in starts:
            own = inside.pop()
            text = "".join(tokens[each].raw for each in own if tokens[each].kind == "text")
            if "\n" in text and not text.strip():
                structure.update([starts[place], place], (each for each in own if tokens[each].kind != "text"))
        inside[-1].append(place)
        if place in ends:
            inside.append([])
    return structure
