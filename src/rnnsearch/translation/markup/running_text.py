"""Running text: its sentences, their translations, and the assignment of translated words to the gaps between tags."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import Protocol

from rnnsearch.data.word_alignments import Links
from rnnsearch.text.spans import Span, spans
from rnnsearch.translation.markup.copies import Side, Words, between, copies, is_mark
from rnnsearch.translation.markup.pieces import Piece
from rnnsearch.translation.markup.stretch import Stretch, Word
from rnnsearch.translation.sentences import as_passage

SPACES = str.maketrans("\t\n\f\r\0", "     ")
"""The characters that separate words in HTML, or that parsers drop, mapped to spaces."""


class Aligned(Protocol):
    """The attributes of a translation that are used here, as in `Translation`."""

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
        """The links between both; None if they are unknown."""


class RunningText:
    """The text between two breaks, which consists of stretches and the seams between them."""

    def __init__(self, pieces: Sequence[Piece], language: str, split: bool) -> None:
        self._raw = "".join(piece.raw for piece in pieces)
        self._seams = [piece for piece in pieces if piece.kind == "seam"]
        stretches: list[list[Piece]] = [[]]
        for piece in pieces:
            if piece.kind == "seam":
                stretches.append([])
            else:
                stretches[-1].append(piece)
        self._stretches = [Stretch(each) for each in stretches]
        self._elements: list[tuple[Span, bool]] = []
        """The positions of each element with text, and whether it is not translated; sorted."""
        self._offsets: list[int] = []
        """The position in the text at which each stretch begins."""
        self._inside: list[tuple[int, int]] = []
        """The stretch of each character of the text, and the innermost element in this stretch."""
        self.sentences: list[str] = []
        """The sentences; there are none if there is no letter to translate."""
        self._text = ""
        for number, stretch in enumerate(self._stretches):
            between = self._seams[number - 1].text if number else ""
            self._inside += [(number, 0)] * len(between)
            self._offsets.append(len(self._text) + len(between))
            self._inside += [(number, element) for element in stretch.inside]
            at = self._offsets[-1]
            self._elements += (((at + start, at + stop), is_verbatim) for start, stop, is_verbatim in stretch.ranges())
            self._text += between + stretch.text
        if not any(stretch.has_letters for stretch in self._stretches):
            return
        passage = as_passage(self._text.translate(SPACES), language, split)
        self.sentences = passage.sentences
        self._starts = [len(passage.before)]
        for sentence, space in zip(passage.sentences, passage.spaces, strict=True):
            self._starts.append(self._starts[-1] + len(sentence) + len(space))

    def joined(self, translations: Sequence[Aligned]) -> str:
        """Return the running text with its sentences replaced by these translations."""
        if not self.sentences:
            return self._raw
        text, words = self._translated(translations)
        if not self._seams:
            return self._stretches[0].joined(text, words)
        parts: list[str] = []
        cuts = cut([self._inside[word.source][0] for word in words], len(self._stretches))
        ends = [(0, 0), *(self._end(text, words, *each) for each in enumerate(cuts[1:-1], 1)), (len(text), len(text))]
        for number, stretch in enumerate(self._stretches):
            start, stop = ends[number][1], ends[number + 1][0]
            share = [self._word(word, number, start) for word in words[cuts[number] : cuts[number + 1]]]
            is_cut = stop < len(text) and not any(map(str.isspace, text[max(0, stop - 1) : stop + 1]))
            parts += [self._seams[number - 1].raw if number else "", stretch.joined(text[start:stop], share, is_cut)]
        return "".join(parts)

    def _end(self, text: str, words: Sequence[Word], number: int, count: int) -> tuple[int, int]:
        """Return the end of the shares before a stretch, which have `count` words, and the beginning of its own share."""
        before = words[count - 1].span[1] if count else 0
        after = words[count].span[0] if count < len(words) else len(text)
        gap = text[before:after]
        space = len(gap) - len(gap.lstrip())
        seam, source = self._seams[number - 1], self._offsets[number] - len(self._seams[number - 1].text)
        if seam.text and space == len(gap):  # it has the space
            return before, after
        leads = self._text[source - 1].isspace() or not (self._text[source].isspace() or seam.raw.startswith("</"))
        place = before + space if leads else before
        return place, place

    def _word(self, word: Word, number: int, start: int) -> Word:
        """Return a word with positions relative to the share of its stretch."""
        stretch, (first, stop) = self._stretches[number], word.span
        own = self._inside[word.source][0] == number
        return Word((first - start, stop - start), word.source - self._offsets[number] if own else stretch.outside)

    def _elements_of(self, start: int, length: int) -> list[tuple[Span, bool]]:
        """Return the elements in a sentence, with positions relative to it."""
        first, end = (bisect_left(self._elements, ((place, 0), False)) for place in (start, start + length))
        own = self._elements[first:end]
        return [((at - start, stop - start), is_verbatim) for (at, stop), is_verbatim in own if stop <= start + length]

    def _translated(self, translations: Sequence[Aligned]) -> tuple[str, list[Word]]:
        """Return the translation of the running text, without markup, and its words."""
        parts = [self._text[: self._starts[0]]]
        length = len(parts[0])
        words: list[Word] = []
        for i, (sentence, translation) in enumerate(zip(self.sentences, translations, strict=True)):
            start = self._starts[i]
            inside = self._inside[start : start + len(sentence)]
            for (first, stop), sources in _read_from(sentence, translation, self._elements_of(start, len(sentence))):
                # A word with several links is in the element that most of them point to; of several such, in the first.
                most = Counter(inside[source] for source, _ in sources).most_common(1)[0][0]
                source = next(span for span in sources if inside[span[0]] == most)
                cuts = [place for place in range(source[0] + 1, source[1]) if inside[place] != inside[place - 1]]
                for end, place in _pieces(translation.text[first:stop], sentence[slice(*source)], source[0], cuts):
                    words.append(Word((length + first, length + first + end), start + place))
                    first += end
            parts += [translation.text, self._text[start + len(sentence) : self._starts[i + 1]]]
            length += len(parts[-2]) + len(parts[-1])
        return "".join(parts), words


def _read_from(
    sentence: str, translation: Aligned, elements: Sequence[tuple[Span, bool]]
) -> Iterator[tuple[Span, list[Span]]]:
    """Yield the span of each word of the translation, and the spans of its source words in the sentence.

    A word in a copy of an element is read from the same word of the element, and no other word is. If one of several links
    is to an identical word, only this link counts; and a link between a word and a punctuation mark counts only if there is
    nothing else. A word without a link that counts is aligned to an identical source word without one, if there is one.
    Without an alignment, or if the tokens do not occur in the text literally, the words of both sides are assumed to be in
    the same order. `elements` are those of the sentence, and whether each is not translated.
    """
    places, origins = spans(translation.tokens, translation.text), spans(translation.source_tokens[:-1], sentence)
    if not (translation.links and places and origins):
        scale = len(sentence) / max(1, len(translation.text))
        for match in re.finditer(r"\S+", translation.text):
            place = int(match.start() * scale)
            yield match.span(), [(place, place + 1)]
        return
    source, target = Side.of(translation.source_tokens[:-1], origins), Side.of(translation.tokens, places)
    links = between(source, target, translation.links)
    copied = copies(source.words, target.words, links, _words_of(elements, source.spans))
    taken = set(copied.values())
    linked: dict[int, list[int]] = {}
    unread: dict[str, list[int]] = {}
    read = {origin for origin, place in links if is_mark(source.words[origin]) == is_mark(target.words[place])} | taken
    for origin in sorted(set(range(len(source.words))) - read, reverse=True):
        unread.setdefault(source.words[origin], []).append(origin)
    for origin, place in sorted(links):
        if origin not in taken:
            linked.setdefault(place, []).append(origin)
    for place, (word, span) in enumerate(zip(target.words, target.spans, strict=True)):
        own = linked.get(place, [])
        alike = [origin for origin in own if is_mark(source.words[origin]) == is_mark(word)]
        if place in copied:
            own = [copied[place]]
        elif not alike and unread.get(word) and (own or any(map(str.isalnum, word))):
            own = [unread[word].pop()]
        same = [origin for origin in own if source.words[origin] == word]
        if own:
            yield span, [source.spans[origin] for origin in same or alike or own]


def _words_of(elements: Iterable[tuple[Span, bool]], words: Sequence[Span]) -> Iterator[Words]:
    """Yield the words of each element that consists of whole words."""
    starts = [start for start, _ in words]
    for (start, stop), is_verbatim in elements:
        first, end = bisect_left(starts, start), bisect_left(starts, stop)
        whole = first == 0 or words[first - 1][1] <= start
        if first < end and whole and words[end - 1][1] <= stop:
            yield Words(first, end, is_verbatim)


def _pieces(word: str, source: str, start: int, cuts: Sequence[int]) -> list[tuple[int, int]]:
    """Cut a word where the same letters of its source word are in different elements.

    `source` begins at `start`, and other elements begin at the `cuts`. Returns the length of each piece, and the position of
    its source.
    """
    at = [0]
    places = [start]
    for place in cuts:
        before, after = source[: place - start], source[place - start :]
        end = len(before) if word.startswith(before) else len(word) - len(after) if word.endswith(after) else 0
        if at[-1] < end < len(word):
            at.append(end)
            places.append(place)
    lengths = [stop - first for first, stop in pairwise([*at, len(word)])]
    return list(zip(lengths, places, strict=True))


def cut(stretches: Sequence[int], count: int) -> list[int]:
    """Cut words into `count` shares, given the source stretch of each; return the beginning of each share, and the end.

    The cut has the fewest empty shares and, among such cuts, the most words in the share of their own stretch.
    """
    words = len(stretches)
    best: list[float] = [0.0] + [-inf] * words
    begins_by_end: list[list[int]] = []
    for stretch in range(count):
        own = [0, *accumulate(each == stretch for each in stretches)]
        sums: list[float] = []
        begins: list[int] = []
        highest = (-inf, 0)
        for end in range(words + 1):
            here = best[end] - own[end]
            value, begin = max(highest, (here - words - 1, end))
            sums.append(value + own[end])
            begins.append(begin)
            highest = max(highest, (here, end))
        best = sums
        begins_by_end.append(begins)
    cuts = [words]
    for begins in reversed(begins_by_end):
        cuts.append(begins[cuts[-1]])
    return cuts[::-1]
