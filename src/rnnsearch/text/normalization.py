"""The normalisation of spelling variants: apostrophes, quotation marks, dashes, ligatures, and the encoding of accents.

Normalisation changes only what a model sees; the user sees words in their original spelling. It has two steps. The *plain*
form of a text is the same for all variants: it has straight marks, composed letters (NFC), ligatures as separate letters,
and full-width letters in usual width. Text is tokenised in its plain form. A `Spelling` then rewrites plain words with the
marks that a vocabulary has, because a model may have been trained on `don’t` and never on `don't`.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from typing import Literal

from rnnsearch.text.expressions import Expression

Side = Literal["source", "target"]
Part = tuple[str, str]
"""A piece of a text in its original spelling and in its plain form; neither is empty."""

_APOSTROPHES = "'’‘‚‛`´′‵ʼʻʽʹˋˊꞌ՚❛❜＇｀"
_NEUTRAL_QUOTES = frozenset('"″‶ˮ＂')
_OPENING_QUOTES = frozenset("“„‟«‹❝〝⹂")
_CLOSING_QUOTES = frozenset("”»›❞〞〟")
_QUOTES = _NEUTRAL_QUOTES | _OPENING_QUOTES | _CLOSING_QUOTES
_HYPHENS = "‐‑⁃−˗"
_DASHES = "-–—‒―⸺⸻"
"""The dashes that occur between words."""
_WITHIN_WORDS = Expression(r"(?<=[\w\p{M}])[–‒](?=\w)")
"""En dashes within words, as in `1990–1995`, for which people without this key type a hyphen."""
_ELLIPSES = "…‥⋯"
_PAIRS = ("“”", "«»", "„“", "„”", "»«", "‹›")

_FORMS = frozenset(
    f"<{form}>" for form in ("wide", "narrow", "small", "vertical", "font", "initial", "medial", "final", "isolated")
)
"""The kinds of Unicode decompositions that change only the look of a letter; those of `²`, `½`, `№` and `①` change more."""
_MOST_MARKS = 64
"""A letter with more code points than this is not normalised, because sorting its marks takes quadratic time."""
# White space is a cluster without accents, because it belongs to no word. With \X alone, a long sequence of flags would take
# quadratic time, because each flag is matched from the beginning of the sequence.
_CLUSTER = Expression(r"\s|\p{RI}{2}(?=\p{RI})|\X")


class _PlainLetters(dict[int, str]):
    """A mapping from code points to their plain forms, computed on demand; most are the letter itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        form = unicodedata.decomposition(letter).partition(" ")[0]
        is_ligature = form == "<compat>" and "LIGATURE" in unicodedata.name(letter, "")
        plain = letter
        # Half-width Korean letters stay as they are: full-width ones would be composed with the letters before them.
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
    """Return the plain form of a text; a plain form does not change any more."""
    return text if _is_plain(text) else "".join(form for _, form in parts(text))


_SINGLE_QUOTES = Expression(
    r"(?<![\w'’‘])(?|(‘)|(')(?!(?i:tis|twas|em|cause|til|bout|cos)\b))(?=\w[^'‘’\n]{2})"
    r"((?:[^'‘’\"“”«»\n]|(?<=\p{L})['’](?=\p{L}))+)(?<=[^\s])['’](?!\w)"
)


def with_double_quotes(text: str) -> str:
    """Return a text with double quotation marks in place of single ones around words, which a model has hardly seen."""
    return _SINGLE_QUOTES.sub(r"“\2”", text) if "'" in text or "‘" in text else text


def parts(text: str) -> list[Part]:
    """Split a text into pieces, mostly single letters, each with its plain form; white space is in pieces of its own."""
    if _is_plain(text):
        return list(zip(text, text, strict=True))
    pieces: list[Part] = []
    start = 0
    for dash in _WITHIN_WORDS.finditer(text):
        pieces += [*_parts(text[start : dash.start()]), (dash[0], "-")]
        start = dash.end()
    return pieces + _parts(text[start:])


def _parts(text: str) -> list[Part]:
    """Split a text as `parts` does, without regard to dashes within words."""
    if unicodedata.is_normalized("NFC", text) and unicodedata.is_normalized("NFC", text.translate(_PLAIN)):
        return [(letter, _PLAIN[ord(letter)]) for letter in text]
    pieces: list[Part] = []
    for cluster in _CLUSTER.findall(text):
        form = _composed(cluster)
        pieces += zip(cluster, cluster, strict=True) if form == cluster else [(cluster, form)]
    return pieces


def _is_plain(text: str) -> bool:
    """Whether a text is its own plain form."""
    if text.isascii():
        return "`" not in text
    composed = unicodedata.is_normalized("NFC", text)
    return composed and text.translate(_PLAIN) == text and not _WITHIN_WORDS.search(text)


def _composed(cluster: str) -> str:
    """Return the plain form of a grapheme cluster, such as a letter and its accents."""
    if len(cluster) > _MOST_MARKS:
        return cluster
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", cluster).translate(_PLAIN))


def as_written(words: Sequence[str], text: str) -> list[str]:
    """Return the words of the plain form of `text` in their original spelling.

    If two words share one piece of the original text, such as a ligature, both have its plain form there. If the words are
    not those of the text, they are returned unchanged.
    """
    written = [part for part in parts(text) if not part[0].isspace()]
    part_of = [number for number, (_, form) in enumerate(written) for _ in form]
    first_of = {number: first for first, number in reversed(list(enumerate(part_of)))}
    if sum(map(len, words)) != len(part_of):
        return list(words)
    spelt_words = []
    start = 0
    for word in words:
        stop, spelt = start + len(word), ""
        position = start  # in the plain form of the text without white space
        while position < stop:
            letters, form = written[part_of[position]]
            if first_of[part_of[position]] == position and position + len(form) <= stop:
                spelt += letters
                position += len(form)
            else:
                spelt += word[position - start]
                position += 1
        spelt_words.append(spelt)
        start = stop
    return spelt_words


class Spelling:
    """Rewrites words with those apostrophes, quotation marks, dashes and ellipses that are most frequent in a vocabulary.

    Source words always get the most frequent mark of each kind, so that a model sees the same however a line was typed.
    Target words, which can be the output of the model, keep quotation marks and dashes that are words of the vocabulary.
    """

    def __init__(self, entries: Sequence[str], side: Side, begin: str = "") -> None:
        """`entries` are the words or subwords of the vocabulary by descending frequency.

        `begin` is the character with which the first subword of a word begins.
        """
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
        """Return the arguments of the constructor for pickling, because the cache cannot be pickled."""
        return Spelling, self._arguments

    def __call__(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words of a sentence in this spelling, one for each."""
        if self._ascii_stays and (text := "".join(words)).isascii() and "`" not in text:
            return words
        return [self.word(word) for word in self._with_directed_quotes(words)]

    def _with_directed_quotes(self, words: Sequence[str]) -> Sequence[str]:
        """Replace neutral quotation marks by opening and closing ones, if the vocabulary has these."""
        opening, closing = self._quotes
        if opening == closing or (self._side == "target" and self._is_word('"')):
            return words
        directed, is_open = [], False
        for word in words:
            if word in _QUOTES:
                is_open = word in _OPENING_QUOTES or not (is_open or word in _CLOSING_QUOTES)
                if word in _NEUTRAL_QUOTES:
                    word = opening if is_open else closing
            directed.append(word)
        return directed

    def _word(self, word: str) -> str:
        """Return a single word in this spelling."""
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
        """Return the spelling of a letter from its original spelling and its plain form."""
        if written.isascii():
            return form
        decomposed = unicodedata.normalize("NFD", written)
        if unicodedata.normalize("NFD", form) != decomposed:  # a ligature, a full-width letter
            return written if self._first(written) < self._first(form) else form
        # A vocabulary that has the decomposed and not the composed letter was learned from decomposed text.
        is_known = form == decomposed or form in self._text or not all(letter in self._text for letter in decomposed)
        return form if is_known else decomposed

    def _quote(self, mark: str, is_first: bool) -> str:
        """Return the spelling of a quotation mark, which is opening if it is neutral and the first letter of its word."""
        if self._side == "target" and self._is_word(mark):
            return mark
        if mark in _NEUTRAL_QUOTES:
            return '"' if '"' in self._text else self._quotes[0 if is_first else 1]
        return self._quotes[1 if mark in _CLOSING_QUOTES else 0]

    def _is_word(self, word: str) -> bool:
        """Whether the vocabulary has this word as an entry that begins a word."""
        return f"\n{self._begin}{word}\n" in self._text

    def _first(self, text: str) -> int:
        """Return the first position of a text in the list of entries, or a greater number if no entry contains it."""
        position = self._text.find(text)
        return position if position >= 0 else 2 * len(self._text)

    def _first_word(self, word: str) -> int:
        """Return the position of a word that is an entry; if it is only a part of entries, a greater number."""
        position = self._text.find(f"\n{self._begin}{word}\n")
        return position if position >= 0 else len(self._text) + self._first(word)
