"""Stretches of running text: their elements, and their translations with the same elements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rnnsearch.text.spans import Span
from rnnsearch.translation.markup.pieces import HTML_SPACES, Piece, escaped
from rnnsearch.translation.projection import ranges_of

INVISIBLE = "\u2060"
"""The replacement for a text that has become empty: a word joiner, which has no width."""
_NEAR = 4
"""The largest number of words by which an element without words may be moved."""


@dataclass
class _Element:
    """An element within running text, or `alone` a part without words, such as a comment or an image."""

    start: str
    """Its start tag; the whole element if it is alone or verbatim."""
    at: int
    """The position in the text at which it begins."""
    stop: int
    """The position in the text at which it ends."""
    chain: tuple[int, ...] = (0,)
    """The numbers of the enclosing elements and its own, the outermost first. Number 0 is the running text."""
    verbatim: bool = False
    end: str = ""


class Word(NamedTuple):
    """A word of the translation."""

    span: Span
    source: int
    """The position in the text of the source word that it is aligned to."""


class _Output(NamedTuple):
    """A piece of the translation with its markup."""

    html: str
    span: Span | None = None
    """The text of the translation that it represents, unless it is a tag."""
    follows: bool = False
    """Whether it is a tag that directly follows a word, without a space."""
    before: bool = False
    """Whether a space precedes it in the document; before an untranslated element, any character but a letter or digit."""
    after: bool = False
    """Whether a space follows it, in the same sense."""
    verbatim: str = ""
    """The text of the element, if it is not translated."""


_Content = list[tuple[int, bool, int, list[_Output]]]
"""The sort key of the contents of an element: an element without words precedes the word at its position."""


class Stretch:
    """The text between two tags that are not moved, and the elements in it."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._elements = [_Element("", 0, 0)]
        self.inside: list[int] = []
        """The innermost element of each character of the text."""
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
        """Whether it contains a letter that is to be translated."""
        plain = [place for place in translated if not self.text[place].isspace()]
        self.place = min(plain, key=lambda place: (not self.text[place].isalpha(), place), default=0)
        """The position of a word that is to be translated, if there is one."""
        self.outside = min(plain, key=lambda place: (self.inside[place] != 0, place), default=0)
        """The position of such a word in as few elements as possible, if there is one."""

    def ranges(self) -> Iterator[tuple[int, int, bool]]:
        """Yield the beginning and the end of each element with text, and whether it is not translated."""
        for element in self._elements[1:]:
            if element.at < element.stop:
                yield element.at, element.stop, element.verbatim

    def joined(self, text: str, words: Sequence[Word], is_cut: bool = False) -> str:
        """Return the translation with the elements; `words` are the words of this text whose source words are known.

        The translation `is_cut` if it continues after its end without a space.
        """
        if not text.replace("\0", " ").strip():  # parsers may drop elements that contain only spaces
            words = [Word((len(text), len(text) + 1), self.place)]
            text += INVISIBLE
        written = _Written(text, is_cut)
        for output in [*self._marked(text, words), _Output("", (len(text), len(text)))]:
            written.add(output)
        return "".join(written.parts)

    def _marked(self, text: str, words: Sequence[Word]) -> list[_Output]:
        """Return the words and the tags, in order."""
        chains = [self._chain(text, word) for word in words]
        ranges = ranges_of(chains)
        around = [0] * len(words)
        for number, (first, stop) in ranges.items():  # enclosing elements come first
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
        """Return the elements around the source of a word, except a verbatim one if the word is a full stop from its end."""
        element = self._elements[self.inside[word.source]]
        is_mark = self.text[word.source].isalnum() and not any(map(str.isalnum, text[slice(*word.span)]))
        return element.chain[:-1] if element.verbatim and is_mark else element.chain

    def _copied(self, element: _Element, text: str, span: Span) -> Span:
        """Return the range of the copy of a verbatim element among its words; all of its words if there is no exact copy."""
        start, stop = span
        own = self.text[element.at : element.stop].strip()
        at = text.find(own, start, stop)
        if not own or at < 0:
            return span
        ends = (at, at + len(own))
        cut = any(start < end < stop and text[end - 1].isalnum() and text[end].isalnum() for end in ends)
        return span if cut else ends

    def _place(self, element: _Element, read: Sequence[tuple[int, int]], text: str, words: Sequence[Word]) -> int:
        """Return the position of an element without words: after the translation of the preceding word in its parent.

        An element with spaces on both sides is moved to the next space if there is one nearby. `read` holds the positions in
        the text of the aligned words, each with its word, in order.
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
        """Return an element without words, with its contents."""
        tag = self._tag(element, element.start)
        if not element.end:
            return [tag]
        return [tag._replace(after=False), *_in_order(content), tag._replace(html=element.end, before=False, follows=True)]

    def _tag(self, element: _Element, html: str) -> _Output:
        """Return a tag of an element, with the spaces beside the element in the document."""
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
    """The part of the translation of running text that has been written so far."""

    def __init__(self, text: str, is_cut: bool) -> None:
        """`text` is the translation without markup; if it is cut, it continues after its end without a space."""
        self._is_cut = is_cut
        self.parts: list[str] = []
        self._text = text
        self._end = 0
        """The number of characters of the text that have been written."""
        self._last = ""
        """The last visible character."""
        self._waiting: list[_Output] = []
        """Tags that are written directly before the next word, after its space."""

    def add(self, output: _Output) -> None:
        """Write the next piece."""
        if output.span is None:
            first = not self._end and output.html.startswith(("<!", "<?", "</"))  # this comment is outside the root
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
        """Write a space unless there is one: after a letter or a digit, or `always`."""
        if self._last.isalnum() or (always and self._last and not self._last.isspace()):
            self._write(" ", " ")

    def _write(self, html: str, seen: str) -> None:
        self.parts.append(html)
        self._last = seen[-1:] or self._last


def _in_order(content: _Content) -> list[_Output]:
    return [output for *_, outputs in sorted(content, key=lambda one: one[:3]) for output in outputs]
