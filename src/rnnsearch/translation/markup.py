"""HTML as sentences to translate, and translations with the markup of their sentences.

A document is cut into tags and text, and every tag stays as it is written: nothing is repaired or completed, and a fragment
is as good as a document. Running text is what stands between two tags that are not of `WITHIN_TEXT`. Its sentences are
translated, and each element in it is put around the words that were read from its own. All this takes linear time, whatever
is given.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rnnsearch.text.spans import Span, spans
from rnnsearch.translation.sentences import as_passage
from rnnsearch.translation.translation import Translation

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
"""So deep may elements be nested within running text; the tags of deeper ones end a sentence."""

_REST_OF_TAG = r"""(?: [^>=]++ | =\s*+ (?: "[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^\s>]*+ ) )*+ (?:>|\Z)"""
_MARKUP = re.compile(
    rf"""
      <!--(?: -?> | .*?(?:--!?>|\Z) )
    | <!\[CDATA\[.*?(?:\]\]>|\Z)
    | <(?P<raw>script|style|textarea)(?=[\s/>]) {_REST_OF_TAG} (?<!["'\s]/>) .*? (?:</(?P=raw)\s*>|\Z)
    | <sup(?=[\s/>]) {_REST_OF_TAG} (?: [^<a-z]++ | <(?!/?sup)/?[a-z][^<>]*+> )*+ </sup\s*>
    | <(?P<slash>/?)(?P<name>[a-z][^\s/>]*+) {_REST_OF_TAG}
    | <[!?/][^>]*(?:>|\Z)
    """,
    re.ASCII | re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""Markup that has no end goes on to the end of the document. Tags within a `raw` element are text. A `<sup>` without
letters, such as the number of a footnote, is like one tag."""
_NOT_TRANSLATED = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.ASCII | re.IGNORECASE)
_CHARACTER_REFERENCE = re.compile(r"&(?:#\w{1,8}|\w{1,32});?", re.ASCII)
_SPACES = str.maketrans("\t\n\f\r", "    ")


class _Piece(NamedTuple):
    """A part of a document."""

    kind: Literal["text", "start", "end", "alone", "verbatim", "break"]
    """`start` and `end` are tags within running text; `alone` is what has no words, as a comment or an image; `verbatim` is
    an element in it that is not translated; `break` is markup that ends a sentence."""
    raw: str
    name: str = ""


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
        pieces = list(_pieces(document))
        paired = _paired(pieces)
        running: list[_Piece] = []
        for number, piece in enumerate([*pieces, _Piece("break", "")]):
            if piece.kind == "break" or (piece.kind in ("start", "end") and number not in paired):
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

    def joined(self, translations: Sequence[Translation]) -> str:
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
                text = _CHARACTER_REFERENCE.sub(lambda found: html.unescape(found[0]), _MARKUP.sub("", piece.raw))
                texts.append(text)
                self._inside += [current[-1]] * len(text)
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

    def joined(self, translations: Sequence[Translation]) -> str:
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

    def _translated(self, translations: Sequence[Translation]) -> tuple[str, list[_Word]]:
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
        ranges = self._ranges([self._chain(text, word) for word in words])
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

    def _ranges(self, chains: Sequence[tuple[int, ...]]) -> dict[int, tuple[int, int]]:
        """Where each element that has words stands in the translation: its first word, and the one after its last.

        `chains` are those of the source of each word. An element's range lies within that of the element around it, holds
        none of the words of its siblings, and has the most words of its own, less the others; the longest of several such.
        """
        ranges = {0: (0, len(chains))}
        for depth in range(1, max(map(len, chains), default=0)):
            best: dict[int, tuple[int, int, int]] = {}
            last = before = first = score = -1
            for place, chain in enumerate(chains):
                if len(chain) <= depth:
                    continue
                around = ranges.get(chain[depth - 1])
                if around is None or not around[0] <= place < around[1]:
                    continue
                between = place - before - 1
                if chain[depth] == last and score >= between:
                    score += 1 - between
                else:
                    first, score = place, 1
                last, before = chain[depth], place
                best[last] = max(best.get(last, (0, 0, 0)), (score, place + 1 - first, first))
            ranges.update((number, (first, first + length)) for number, (_, length, first) in best.items())
        return ranges

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


def _pieces(document: str) -> Iterator[_Piece]:
    """The pieces of a document; together they are the document."""
    found = _MARKUP.finditer(document)
    end = 0
    for markup in found:
        start = markup.start()
        if start > end:
            yield _Piece("text", document[end:start])
        end, name = markup.end(), (markup["name"] or markup["raw"] or "").lower()
        alone = not name or name in VOID or markup[0].endswith("/>")
        verbatim = not (alone or markup["slash"]) and (name in VERBATIM or _NOT_TRANSLATED.search(markup[0]) is not None)
        finished = markup[0].endswith(">")
        if verbatim and not markup["raw"]:
            last = _end_tag(name, found)
            end, finished = (len(document), False) if last is None else (last.end(), last[0].endswith(">"))
        kind: Literal["start", "end", "alone", "verbatim", "break"]
        if not finished or (name and name not in WITHIN_TEXT):
            kind = "break"
        elif alone:
            kind = "alone"
        elif verbatim:
            kind = "verbatim"
        else:
            kind = "end" if markup["slash"] else "start"
        yield _Piece(kind, document[start:end], name)
    if end < len(document):
        yield _Piece("text", document[end:])


def _end_tag(name: str, found: Iterator[re.Match[str]]) -> re.Match[str] | None:
    """The end tag of an element whose start tag was the last that was `found`."""
    depth = 1
    for markup in found:
        if (markup["name"] or "").lower() == name and not markup[0].endswith("/>"):
            depth += -1 if markup["slash"] else 1
            if not depth:
                return markup
    return None


def _paired(pieces: Sequence[_Piece]) -> set[int]:
    """The tags of those elements that lie wholly within running text, well nested and not too deep."""
    paired: set[int] = set()
    opened: list[int] = []
    for number, piece in enumerate(pieces):
        if piece.kind == "start":
            opened.append(number)
        elif piece.kind == "end" and opened and pieces[opened[-1]].name == piece.name:
            paired |= {opened.pop(), number}
        elif piece.kind in ("end", "break"):
            opened.clear()
        if len(opened) > MOST_NESTED:
            opened.clear()
    return paired


def _read_from(sentence: str, translation: Translation) -> list[tuple[Span, int]]:
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
