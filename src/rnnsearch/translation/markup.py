"""HTML as sentences to translate, and translations with the markup of their sentences.

Python's parser cuts a document into tags and text, and every tag stays: nothing is repaired or completed, and a fragment is
as good as a document. Running text is what stands between two tags that are not of `WITHIN_TEXT`. Its sentences are
translated, and each element in it is put around the words that were read from its own. All this takes linear time, whatever
is given; only the parser of some versions of Python needs quadratic time for markup that has no end.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Literal, NamedTuple, Protocol

from rnnsearch.data.word_alignments import Links
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.spans import Span, spans
from rnnsearch.translation.projection import ranges_of
from rnnsearch.translation.sentences import as_passage

WITHIN_TEXT = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "math", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
    "tt", "u", "var", "wbr",
})  # fmt: skip
"""Elements that stand within running text; the tags of all others end a sentence."""

VERBATIM = frozenset({
    "code", "kbd", "math", "pre", "samp", "script", "style", "svg", "textarea", "var",
})  # fmt: skip
"""Elements whose content is not translated; neither is that of an element with `translate="no"`."""

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
"""Elements without content and without an end tag."""

MOST_NESTED = 20
"""So deep may elements be nested within running text; the tags of those around them end a sentence."""

_SPACES = str.maketrans("\t\n\f\r", "    ")
_Kind = Literal["text", "start", "end", "alone", "verbatim", "break"]


class _Piece(NamedTuple):
    """A part of a document."""

    kind: _Kind
    """`start` and `end` are tags within running text; `alone` is what has no words, as a comment or an image; `verbatim` is
    an element in it that is not translated; `break` is markup that ends a sentence."""
    raw: str
    name: str = ""
    text: str = ""
    """The text in it, without markup."""


class Aligned(Protocol):
    """What is known of a translation: as `Translation` has it."""

    @property
    def text(self) -> str:
        """The translation."""

    @property
    def tokens(self) -> Sequence[str]:
        """Its words."""

    @property
    def source_tokens(self) -> Sequence[str]:
        """The words of the sentence, and a symbol for its end."""

    @property
    def links(self) -> Links | None:
        """The links of both; None where nothing is known of them."""


@dataclass
class _Element:
    """An element within running text, or what stands `alone` there."""

    start: str
    """Its start tag; all of it, where it is alone or verbatim."""
    at: int
    """Where it begins in the text."""
    chain: tuple[int, ...] = (0,)
    """The numbers of the elements around it and its own, outermost first. Number 0 is the running text."""
    verbatim: bool = False
    end: str = ""


class _Word(NamedTuple):
    """A word of the translation."""

    span: Span
    source: int
    """The place in the text of the word that it was read from."""


class _Output(NamedTuple):
    """A piece of the translation with its markup."""

    html: str
    span: Span | None = None
    """What it stands for in the translation, if it is no tag."""
    follows: bool = False
    """Whether it is a tag that no space separates from the word before."""


class Markup:
    """An HTML document and its sentences."""

    def __init__(self, document: str, language: str, split: bool = True) -> None:
        """`language` is its code. Running text is cut into sentences if it is to be `split`."""
        self._parts: list[str | _RunningText] = []
        running: list[_Piece] = []
        for piece in [*_pieces(document), _Piece("break", "")]:
            if piece.kind == "break":
                if running:
                    self._parts.append(_RunningText(running, language, split))
                    running = []
                self._parts.append(piece.raw)
            else:
                running.append(piece)

    @property
    def sentences(self) -> list[str]:
        """The text of the sentences, without markup."""
        return [sentence for part in self._parts if isinstance(part, _RunningText) for sentence in part.sentences]

    def joined(self, translations: Sequence[Aligned]) -> str:
        """The document with these translations instead of its sentences."""
        rest = iter(translations)
        return "".join(
            part if isinstance(part, str) else part.joined([next(rest) for _ in part.sentences]) for part in self._parts
        )


class _RunningText:
    """Text between two breaks, and the elements in it."""

    def __init__(self, pieces: Sequence[_Piece], language: str, split: bool) -> None:
        self._raw = "".join(piece.raw for piece in pieces)
        self._elements = [_Element("", 0)]
        self._inside: list[int] = []
        """For each character of the text, the innermost element that it is in."""
        self.sentences: list[str] = []
        """There are none where there is no letter to translate."""
        texts: list[str] = []
        current = [0]
        for piece in pieces:
            if piece.kind == "end":
                self._elements[current.pop()].end = piece.raw
                continue
            if piece.kind != "text":
                chain = (*current, len(self._elements))
                self._elements.append(_Element(piece.raw, len(self._inside), chain, piece.kind == "verbatim"))
                current = list(chain)
            if piece.kind in ("text", "verbatim"):
                texts.append(piece.text)
                self._inside += [current[-1]] * len(piece.text)
            if piece.kind in ("alone", "verbatim"):
                current.pop()
        self._text = "".join(texts)
        if all(self._elements[n].verbatim for n, letter in zip(self._inside, self._text, strict=True) if letter.isalpha()):
            return
        passage = as_passage(self._text.translate(_SPACES), language, split)
        self.sentences = passage.sentences
        self._starts = [len(passage.before)]
        for sentence, space in zip(passage.sentences, passage.spaces, strict=True):
            self._starts.append(self._starts[-1] + len(sentence) + len(space))

    def joined(self, translations: Sequence[Aligned]) -> str:
        """The running text with these translations instead of its sentences."""
        if not self.sentences:
            return self._raw
        text, words = self._translated(translations)
        written: list[str] = []
        waiting: list[str] = []  # tags that go before the next word, and after the space before it
        end = 0
        for output in self._marked(text, words):
            if output.span is not None:
                start, stop = output.span
                written += [_escaped(text[end:start]), *waiting, output.html]
                waiting, end = [], stop
            else:
                (written if output.follows and not waiting else waiting).append(output.html)
        return "".join([*written, _escaped(text[end:]), *waiting])

    def _translated(self, translations: Sequence[Aligned]) -> tuple[str, list[_Word]]:
        """The translation of the running text, without markup, and its words."""
        parts = [self._text[: self._starts[0]]]
        length = len(parts[0])
        words: list[_Word] = []
        for i, (sentence, translation) in enumerate(zip(self.sentences, translations, strict=True)):
            start = self._starts[i]
            words += [
                _Word((length + first, length + stop), start + source)
                for (first, stop), source in _read_from(sentence, translation)
            ]
            parts += [translation.text, self._text[start + len(sentence) : self._starts[i + 1]]]
            length += len(parts[-2]) + len(parts[-1])
        return "".join(parts), words

    def _marked(self, text: str, words: Sequence[_Word]) -> list[_Output]:
        """The words and the tags, in order."""
        ranges = ranges_of([self._chain(text, word) for word in words])
        around = [0] * len(words)
        for number, (first, stop) in ranges.items():  # those around an element come before it
            around[first:stop] = [number] * (stop - first)
        # What is in each element, to be sorted: what has no words comes before the word at its place.
        content: list[list[tuple[int, bool, int, list[_Output]]]] = [[] for _ in self._elements]
        for place, (number, word) in enumerate(zip(around, words, strict=True)):
            content[number].append((place, True, 0, [_Output(_escaped(text[slice(*word.span)]), word.span)]))
        read = sorted((word.source, place) for place, word in enumerate(words))
        for number, element in reversed(list(enumerate(self._elements))[1:]):
            parent = element.chain[-2]
            if number not in ranges:
                content[parent].append((self._place(element, read), False, number, self._empty(element, content[number])))
                continue
            first, stop = ranges[number]
            if element.verbatim:
                inner = [_Output(element.start, (words[first].span[0], words[stop - 1].span[1]))]
            else:
                inner = [_Output(element.start), *_in_order(content[number]), _Output(element.end, follows=True)]
            content[parent].append((first, True, number, inner))
        return _in_order(content[0])

    def _chain(self, text: str, word: _Word) -> tuple[int, ...]:
        """The elements that the source of a word is in; not a verbatim one, if the word is a full stop read from its end."""
        element = self._elements[self._inside[word.source]]
        is_mark = self._text[word.source].isalnum() and not any(map(str.isalnum, text[slice(*word.span)]))
        return element.chain[:-1] if element.verbatim and is_mark else element.chain

    def _place(self, element: _Element, read: Sequence[tuple[int, int]]) -> int:
        """Where an element without words stands: after the translation of the word before it, if its parent has one there.

        `read` are the places in the text that words were read from, each with its word, in order.
        """
        before = bisect_left(read, (element.at, 0)) - 1
        if before < 0 or read[before][0] < self._elements[element.chain[-2]].at:
            return 0
        return read[before][1] + 1

    def _empty(self, element: _Element, content: list[tuple[int, bool, int, list[_Output]]]) -> list[_Output]:
        """An element without words, and what is in it."""
        follows = element.at > 0 and not self._text[element.at - 1].isspace()
        space = " " if not follows and self._text[element.at : element.at + 1].isspace() else ""
        if not element.end:
            return [_Output(element.start + space, follows=follows)]
        return [_Output(element.start, follows=follows), *_in_order(content), _Output(element.end + space, follows=True)]


class _Parser(HTMLParser):
    """The tags and the text of a document. A `verbatim` piece is only a start tag yet, and no tag is a `break`."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[_Piece] = []
        self._written: dict[str, str] = {}  # the names of tags, which the parser gives in small letters
        self._unparsed = ""  # the element, such as a script, whose content the parser gives as it is written
        try:
            self.feed(document)
            self.close()
            if self._unparsed:  # without an end tag, some versions of the parser lose the content
                self.feed(f"</{self._unparsed}>")
                self.pieces = self.pieces[:-1] if self.pieces[-1].kind == "end" else self.pieces
        except (AssertionError, ValueError) as error:  # at <![x in some versions, and at a number of thousands of digits
            found = shown(str(error))
            raise RnnsearchError(f"the HTML cannot be parsed: {found}; write &lt; and &amp; for < and & in text") from None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raw = self.get_starttag_text() or ""
        self._written[tag] = raw[1 : 1 + len(tag)]
        if tag in self.CDATA_CONTENT_ELEMENTS:
            self._unparsed = tag
        stays = tag in VERBATIM or tag == self._unparsed or (dict(attrs).get("translate") or "").lower() == "no"
        self._add("verbatim" if stays else "start", raw, tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("alone", self.get_starttag_text() or "", tag)

    def handle_endtag(self, tag: str) -> None:
        self._unparsed = ""
        self._add("end", f"</{self._written.get(tag, tag)}>", tag)

    def handle_data(self, data: str) -> None:
        self._add("text", data if self._unparsed else _escaped(data), text=data)

    def handle_comment(self, data: str) -> None:
        self._add("alone", f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self._add("alone", f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self._add("alone", f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self._add("alone", f"<![{data}]]>" if "[" in data else f"<![{data}]>")

    def _add(self, kind: _Kind, raw: str, name: str = "", text: str = "") -> None:
        self.pieces.append(_Piece("alone" if name in VOID else kind, raw, name, text))


def _pieces(document: str) -> list[_Piece]:
    """The pieces of a document. Tags are breaks but for those of an element that lies within running text, well nested."""
    found: list[_Piece] = []
    opened: list[int] = []
    verbatim = depth = 0  # where the element begins that is not translated, and how many of its name are open
    for piece in _Parser(document).pieces:
        within = not piece.name or piece.name in WITHIN_TEXT
        found.append(piece if within and piece.kind in ("text", "alone") else piece._replace(kind="break"))
        if depth or piece.kind == "verbatim":
            verbatim = verbatim if depth else len(found) - 1
            if piece.name == found[verbatim].name and piece.kind != "alone":
                depth += -1 if piece.kind == "end" else 1
            if not depth:
                found[verbatim:] = [_joined("verbatim" if within else "break", found[verbatim:])]
                opened = opened if within else []
        elif not within or (piece.kind == "end" and not (opened and found[opened[-1]].name == piece.name)):
            opened = []
        elif piece.kind == "start":
            opened = [*opened[1 - MOST_NESTED :], len(found) - 1]
        elif piece.kind == "end":
            start = opened.pop()
            if piece.name == "sup" and not any(letter.isalpha() for inner in found[start:] for letter in inner.text):
                found[start:] = [_joined("alone", found[start:])]
            else:
                found[start], found[-1] = found[start]._replace(kind="start"), piece
    return [*found[:verbatim], _joined("break", found[verbatim:])] if depth else found


def _joined(kind: _Kind, pieces: Sequence[_Piece]) -> _Piece:
    return _Piece(kind, "".join(piece.raw for piece in pieces), text="".join(piece.text for piece in pieces))


def _read_from(sentence: str, translation: Aligned) -> list[tuple[Span, int]]:
    """Where each word of the translation stands, and where in the sentence the word that it was read from does.

    Without an alignment, or where the tokens are not written in the text as they are, words are taken to be in the same
    order on both sides.
    """
    places, sources = spans(translation.tokens, translation.text), spans(translation.source_tokens[:-1], sentence)
    links = translation.links
    if links and places and sources:
        return [(places[target], sources[source][0]) for source, target in sorted(links, key=lambda link: link[1])]
    scale = len(sentence) / max(1, len(translation.text))
    return [(word.span(), int(word.start() * scale)) for word in re.finditer(r"\S+", translation.text)]


def _in_order(content: list[tuple[int, bool, int, list[_Output]]]) -> list[_Output]:
    return [output for *_, outputs in sorted(content, key=lambda one: one[:3]) for output in outputs]


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\xa0", "&#160;")
