"""What a model sees of text that can be written in several ways: apostrophes, quotation marks, dashes, ligatures, accents.

Nothing here changes what a reader sees. Words keep the spelling that they were given; beside it, there is what stands for
them, in two steps. The *plain* form is the same for all ways to write a text: straight marks, composed letters (NFC),
ligatures in their letters, full-width letters in usual width. Words are cut in it. A `Spelling` then writes the plain form
with the marks that a vocabulary has, as a model may have been trained on `don’t` and have never seen `don't`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

import regex

Side = Literal["source", "target"]
Part = tuple[str, str]
"""A piece of a text as it is written, and in its plain form; neither is empty."""

_APOSTROPHES = "'’‘‚‛`´′‵ʼʻʽʹˋˊꞌ՚❛❜＇｀"
_NEUTRAL_QUOTES = frozenset('"″‶ˮ＂')
_OPENING_QUOTES = frozenset("“„‟«‹❝〝⹂")
_CLOSING_QUOTES = frozenset("”»›❞〞〟")
_QUOTES = _NEUTRAL_QUOTES | _OPENING_QUOTES | _CLOSING_QUOTES
_HYPHENS = "‐‑⁃−˗"
_DASHES = "-–—‒―⸺⸻"
"""Those that stand between words."""
_WITHIN_WORDS = re.compile(r"(?<=\w)[–‒](?=\w)")
"""An en dash as in `1990–1995` is a hyphen to those whose keyboard has none."""
_ELLIPSES = "…‥⋯"
_PAIRS = ("“”", "«»", "„“", "„”", "»«", "‹›")

_FORMS = frozenset(
    f"<{form}>" for form in ("wide", "narrow", "small", "vertical", "font", "initial", "medial", "final", "isolated")
)
"""The kinds of Unicode's decompositions that change how letters look, and not what they are: not `²`, `½`, `№` or `①`."""
_MOST_MARKS = 64
"""A letter with more code points than this stays as it is: to order them takes quadratic time."""
# White space takes no accents here: it is in no word. \X alone would count a long row of flags again for each of them.
_CLUSTER = regex.compile(r"\s|\p{RI}{2}(?=\p{RI})|\X")


class _PlainLetters(dict[int, str]):
    """The plain form of every code point, by its number; that of most is the letter itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        form = unicodedata.decomposition(letter).partition(" ")[0]
        is_ligature = form == "<compat>" and "LIGATURE" in unicodedata.name(letter, "")
        plain = letter
        # Half-width Korean letters would be joined with those before them.
        if (form in _FORMS or is_ligature) and "HANGUL" not in unicodedata.name(letter, ""):
            composed = unicodedata.normalize("NFKC", letter)
            plain = letter if any(map(str.isspace, composed)) else composed
        self[code] = plain
        return plain


_PLAIN = _PlainLetters(
    {
        **{ord(mark): "'" for mark in _APOSTROPHES},
        **{ord(mark): '"' for mark in _QUOTES},
        **{ord(mark): "-" for mark in _HYPHENS},
        **dict.fromkeys(map(ord, _ELLIPSES), "..."),
        ord("‥"): "..",
    }
)


def plain(text: str) -> str:
    """The plain form of a text; it is its own plain form."""
    return text if _is_plain(text) else "".join(form for _, form in parts(text))


def parts(text: str) -> list[Part]:
    """The text in pieces, mostly letters, each with its plain form; white space is pieces of its own."""
    if _is_plain(text):
        return list(zip(text, text, strict=True))
    found: list[Part] = []
    start = 0
    for dash in _WITHIN_WORDS.finditer(text):
        found += [*_parts(text[start : dash.start()]), (dash[0], "-")]
        start = dash.end()
    return found + _parts(text[start:])


def _parts(text: str) -> list[Part]:
    if unicodedata.is_normalized("NFC", text) and unicodedata.is_normalized("NFC", text.translate(_PLAIN)):
        return [(letter, _PLAIN[ord(letter)]) for letter in text]
    found: list[Part] = []
    for cluster in _CLUSTER.findall(text):
        form = _composed(cluster)
        found += zip(cluster, cluster, strict=True) if form == cluster else [(cluster, form)]
    return found


def _is_plain(text: str) -> bool:
    if text.isascii():
        return "`" not in text
    composed = unicodedata.is_normalized("NFC", text)
    return composed and text.translate(_PLAIN) == text and not _WITHIN_WORDS.search(text)


def _composed(cluster: str) -> str:
    if len(cluster) > _MOST_MARKS:
        return cluster
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", cluster).translate(_PLAIN))


def as_written(words: Sequence[str], text: str) -> list[str]:
    """The words that the plain form of `text` was cut into, as they are written in it.

    Where a cut is within what is written as one, such as a letter and its accents, the words are plain there. The words
    themselves are returned if they are not those of the text.
    """
    written = [part for part in parts(text) if not part[0].isspace()]
    part_of = [number for number, (_, form) in enumerate(written) for _ in form]
    first_of = {number: first for first, number in reversed(list(enumerate(part_of)))}
    if sum(map(len, words)) != len(part_of):
        return list(words)
    found = []
    start = 0
    for word in words:
        stop, spelt = start + len(word), ""
        place = start
        while place < stop:
            letters, form = written[part_of[place]]
            if first_of[part_of[place]] == place and place + len(form) <= stop:
                spelt += letters
                place += len(form)
            else:
                spelt += word[place - start]
                place += 1
        found.append(spelt)
        start = stop
    return found


class Spelling:
    """Writes words with the marks that a vocabulary has: of several that mean the same, the most frequent one.

    For the source it is always that one, so that a model sees the same however a line was typed. A target, which may be what
    the model wrote itself, keeps its quotation marks and dashes where the vocabulary has them as words.
    """

    def __init__(self, entries: Sequence[str], side: Side, begin: str = "") -> None:
        """`entries` are words, or subwords, of which the first of a word starts with `begin`; the most frequent first."""
        self._arguments = entries, side, begin
        self._side, self._begin = side, begin
        self._text = "\n" + "\n".join(entries) + "\n"
        self._apostrophe = min(_APOSTROPHES, key=self._first)
        neutral = ('"', '"')
        self._quotes = min([neutral, *map(tuple, _PAIRS)], key=lambda pair: max(map(self._first_word, pair)))
        dash, ellipsis = min(_DASHES, key=self._first_word), min(("...", "…"), key=self._first_word)
        self._alone = dict.fromkeys(_DASHES, dash) | {"...": ellipsis}
        self._ascii_stays = (self._apostrophe, self._quotes, dash, ellipsis) == ("'", neutral, "-", "...")
        self.word = functools.lru_cache(maxsize=1 << 18)(self._word)

    def __reduce__(self) -> tuple[type[Spelling], tuple[Sequence[str], Side, str]]:
        """A pickle holds what this was made of."""
        return Spelling, self._arguments

    def __call__(self, words: Sequence[str]) -> Sequence[str]:
        """The words of a sentence, as many as there were."""
        if self._ascii_stays and (text := "".join(words)).isascii() and "`" not in text:
            return words
        return [self.word(word) for word in self._with_turned_quotes(words)]

    def _with_turned_quotes(self, words: Sequence[str]) -> Sequence[str]:
        """The words with `"` turned in or out, where the vocabulary has quotation marks of two kinds."""
        opening, closing = self._quotes
        if opening == closing or (self._side == "target" and self._is_word('"')):
            return words
        found, is_open = [], False
        for word in words:
            if word in _QUOTES:
                is_open = word in _OPENING_QUOTES or not (is_open or word in _CLOSING_QUOTES)
                if word in _NEUTRAL_QUOTES:
                    word = opening if is_open else closing
            found.append(word)
        return found

    def _word(self, word: str) -> str:
        """One word, whatever the others are."""
        spelt = ""
        for written, form in parts(word):
            if form == "'":
                spelt += self._apostrophe
            elif form == '"':
                spelt += self._quote(written, is_first=not spelt)
            else:
                spelt += self._letter(written, form)
        if self._side == "target" and self._is_word(word) and spelt in self._alone:
            return word
        return self._alone.get(spelt, spelt)

    def _letter(self, written: str, form: str) -> str:
        if written.isascii():
            return form
        decomposed = unicodedata.normalize("NFD", written)
        if unicodedata.normalize("NFD", form) != decomposed:  # a ligature, a full-width letter
            return written if self._first(written) < self._first(form) else form
        # Only a vocabulary that was learned from decomposed text lacks the one and has the other.
        is_known = form == decomposed or form in self._text or not all(letter in self._text for letter in decomposed)
        return form if is_known else decomposed

    def _quote(self, mark: str, is_first: bool) -> str:
        if self._side == "target" and self._is_word(mark):
            return mark
        if mark in _NEUTRAL_QUOTES:
            return '"' if '"' in self._text else self._quotes[0 if is_first else 1]
        return self._quotes[1 if mark in _CLOSING_QUOTES else 0]

    def _is_word(self, word: str) -> bool:
        return f"\n{self._begin}{word}\n" in self._text

    def _first(self, text: str) -> int:
        """Where it is first found in the entries; behind them, if it is not in them."""
        place = self._text.find(text)
        return place if place >= 0 else 2 * len(self._text)

    def _first_word(self, word: str) -> int:
        """Where it is first found as a word by itself, and after them, as a part of one."""
        place = self._text.find(f"\n{self._begin}{word}\n")
        return place if place >= 0 else len(self._text) + self._first(word)
