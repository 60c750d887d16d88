"""A stretch of running text: the elements in it, and its translation with the same elements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rnnsearch.text.spans import Span
from rnnsearch.translation.markup.pieces import HTML_SPACES, Piece, escaped
from rnnsearch.translation.projection import ranges_of

INVISIBLE = "\u2060"
"""What stands where a text was and none is any more: a word joiner, which has no width."""
_NEAR = 4
"""So many words further on an element without words may stand."""


@dataclass
class _Element:
    """An element within running text, or what stands `alone` there."""

    start: str
    """Its start tag; all of it, where it is alone or verbatim."""
    at: int
    """Where it begins in the text."""
    stop: int
    """Where it ends."""
    chain: tuple[int, ...] = (0,)
    """The numbers of the elements around it and its own, outermost first. Number 0 is the running text."""
    verbatim: bool = False
    end: str = ""


class Word(NamedTuple):
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
    before: bool = False
    """Whether a space is before it in the document; before one that is not translated, what is no letter and no digit."""
    after: bool = False
    """So, after it."""
    verbatim: str = ""
    """The text of an element that is not translated."""


_Content = list[tuple[int, bool, int, list[_Output]]]
"""What is in an element, to be sorted: what has no words comes before the word at its place."""


class Stretch:
    """Text between two tags that stay in their place, and the elements in it."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._elements = [_Element("", 0, 0)]
        self.inside: list[int] = []
        """For each character of the text, the innermost element that it is in."""
        texts: list[str] = []
        current = [0]
        for piece in pieces:
            if piece.kind == "end":
                element = self._elements[current.pop()]
                element.end, element.stop = piece.raw, len(self.inside)
                continue
            if piece.kind != "text":
                chain = (*current, len(self._elements))
                at = len(self.inside)
                stop = at + len(piece.text) if piece.kind == "verbatim" else at
                self._elements.append(_Element(piece.raw, at, stop, chain, piece.kind == "verbatim"))
                current = list(chain)
            if piece.kind in ("text", "verbatim"):
                texts.append(piece.text)
                self.inside += [current[-1]] * len(piece.text)
            if piece.kind in ("alone", "verbatim"):
                current.pop()
        self.text = "".join(texts)
        """The text, without markup."""
        self._first = len(self.text) - len(self.text.lstrip(HTML_SPACES))
        translated = [place for place, n in enumerate(self.inside) if not self._elements[n].verbatim]
        self.has_letters = any(self.text[place].isalpha() for place in translated)
        """Whether there is a letter in it that is to be translated."""
        plain = [place for place in translated if not self.text[place].isspace()]
        self.place = min(plain, key=lambda place: (not self.text[place].isalpha(), place), default=0)
        """The place of a word that is to be translated, if there is one."""
        self.outside = min(plain, key=lambda place: (self.inside[place] != 0, place), default=0)
        """The place of one, if there is one, that is in as few elements as can be."""

    def joined(self, text: str, words: Sequence[Word], is_cut: bool = False) -> str:
        """The translation with the elements; `words` are those of this text, as far as it is known where they were read.

        It may be that the translation `is_cut`: that it goes on without a space.
        """
        if not text.replace("\0", " ").strip():  # parsers may leave out elements around what is nothing but spaces
            words = [Word((len(text), len(text) + 1), self.place)]
            text += INVISIBLE
        written = _Written(text, is_cut)
        for output in [*self._marked(text, words), _Output("", (len(text), len(text)))]:
            written.add(output)
        return "".join(written.parts)

    def _marked(self, text: str, words: Sequence[Word]) -> list[_Output]:
        """The words and the tags, in order."""
        chains = [self._chain(text, word) for word in words]
        ranges = ranges_of(chains)
        around = [0] * len(words)
        for number, (first, stop) in ranges.items():  # those around an element come before it
            around[first:stop] = [number] * (stop - first)
        content: list[_Content] = [[] for _ in self._elements]
        for place, (number, word) in enumerate(zip(around, words, strict=True)):
            # What is read from a verbatim element is in it already, where a word of it comes before.
            first = ranges[number][0]
            is_copy = self._elements[number].verbatim and chains[place][-1] == number and place > first
            output = _Output("" if is_copy else escaped(text[slice(*word.span)]), word.span)
            content[number].append((place, True, 0, [output]))
        read = sorted((word.source, place) for place, word in enumerate(words))
        for number, element in reversed(list(enumerate(self._elements))[1:]):
            parent = element.chain[-2]
            if number not in ranges:
                place = self._place(element, read, text, words)
                content[parent].append((place, False, number, self._empty(element, content[number])))
                continue
            first, stop = ranges[number]
            if element.verbatim:
                last = next((place for place in range(first, stop) if chains[place][-1] != number), stop) - 1
                span = self._copied(element, text, (words[first].span[0], words[last].span[1]))
                own = self._tag(element, element.start)._replace(span=span, follows=False)
                inner = [own, *_in_order(content[number])[last + 1 - first :]]
            else:
                inner = [_Output(element.start), *_in_order(content[number]), _Output(element.end, follows=True)]
            content[parent].append((first, True, number, inner))
        return _in_order(content[0])

    def _chain(self, text: str, word: Word) -> tuple[int, ...]:
        """The elements that the source of a word is in; not a verbatim one, if the word is a full stop read from its end."""
        element = self._elements[self.inside[word.source]]
        is_mark = self.text[word.source].isalnum() and not any(map(str.isalnum, text[slice(*word.span)]))
        return element.chain[:-1] if element.verbatim and is_mark else element.chain

    def _copied(self, element: _Element, text: str, span: Span) -> Span:
        """Where a verbatim element is copied, within the words that were read from it; all of these, if it is not."""
        start, stop = span
        own = self.text[element.at : element.stop].strip()
        at = text.find(own, start, stop)
        if not own or at < 0:
            return span
        ends = (at, at + len(own))
        cut = any(start < end < stop and text[end - 1].isalnum() and text[end].isalnum() for end in ends)
        return span if cut else ends

    def _place(self, element: _Element, read: Sequence[tuple[int, int]], text: str, words: Sequence[Word]) -> int:
        """Where an element without words stands: after the translation of the word before it, if its parent has one there.

        One with spaces on both sides divides no words that have none between them, if there is a space soon. `read` are the
        places in the text that words were read from, each with its word, in order.
        """
        before = bisect_left(read, (element.at, 0)) - 1
        if before < 0 or read[before][0] < self._elements[element.chain[-2]].at:
            return 1 if len(element.chain) == 2 and element.at > self._first else 0
        place = read[before][1] + 1
        if not self._is_space(element.at - 1) or not self._is_space(element.stop):
            return place
        near = range(place, min(place + _NEAR, len(words)))
        return next((near_by for near_by in near if text[words[near_by].span[0] - 1].isspace()), near.stop)

    def _empty(self, element: _Element, content: _Content) -> list[_Output]:
        """An element without words, and what is in it."""
        tag = self._tag(element, element.start)
        if not element.end:
            return [tag]
        return [tag._replace(after=False), *_in_order(content), tag._replace(html=element.end, before=False, follows=True)]

    def _tag(self, element: _Element, html: str) -> _Output:
        """A tag of an element, with what is beside the element in the document."""
        follows = element.at > 0 and not self._is_space(element.at - 1)
        if element.verbatim:
            before, after = (self.text[place : place + 1] for place in (max(0, element.at - 1), element.stop))
            own = self.text[element.at : element.stop]
            return _Output(html, None, follows, element.at > 0 and not before.isalnum(), not after.isalnum(), own)
        after_it = element.at == element.stop and self._is_space(element.stop)
        return _Output(html, None, follows, self._is_space(element.at - 1), after_it)

    def _is_space(self, place: int) -> bool:
        return 0 <= place < len(self.text) and self.text[place].isspace()


class _Written:
    """The translation of running text, as far as it is written."""

    def __init__(self, text: str, is_cut: bool) -> None:
        """`text` is the translation without markup; it may be that it goes on without a space."""
        self._is_cut = is_cut
        self.parts: list[str] = []
        self._text = text
        self._end = 0
        """How much of the text has been written."""
        self._last = ""
        """The last character that is seen."""
        self._waiting: list[_Output] = []
        """Tags that go before the next word, and after the space before it."""

    def add(self, output: _Output) -> None:
        """Write what comes next."""
        if output.span is None:
            first = not self._end and output.html.startswith(("<!", "<?", "</"))  # such a comment stands outside the root
            if (output.follows or first) and not self._waiting:
                if output.verbatim and output.before:
                    self._separate()
                self._write(output.html, output.verbatim)
            else:
                self._waiting.append(output)
            return
        start, stop = output.span
        gap, at_end = self._text[self._end : start], start == len(self._text)
        self._write(escaped(gap), gap)
        divides = bool(self._last) and not self._last.isspace()
        for tag in self._waiting:
            always = at_end and not self._is_cut
            if tag.before and (always or tag.verbatim):
                self._separate(always)
            self._write(tag.html, tag.verbatim)
            if tag.after and not at_end and (not divides or (tag.verbatim and self._text[start].isalnum())):
                self._write(" ", " ")
        self._waiting = []
        if output.verbatim and output.before:
            self._separate()
        self._write(output.html, output.verbatim or self._text[start:stop])
        if output.verbatim and output.after and self._text[stop : stop + 1].isalnum():
            self._write(" ", " ")
        self._end = stop

    def _separate(self, always: bool = False) -> None:
        """Write a space, if there is none: after a letter or a digit, or `always`."""
        if self._last.isalnum() or (always and self._last and not self._last.isspace()):
            self._write(" ", " ")

    def _write(self, html: str, seen: str) -> None:
        self.parts.append(html)
        self._last = seen[-1:] or self._last


def _in_order(content: _Content) -> list[_Output]:
    return [output for *_, outputs in sorted(content, key=lambda one: one[:3]) for output in outputs]
