"""Tokenisation of running text into words, and detokenisation, like the Moses scripts."""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from rnnsearch.errors import RnnsearchError
from rnnsearch.text.expressions import Expression
from rnnsearch.text.normalization import as_written, plain
from rnnsearch.text.protected import Protected, cut_around, find_protected, join_around

TokenizerKind = Literal["moses", "whitespace"]

# Invisible characters would become words of their own, or cut a word in two as a soft hyphen does: control characters, soft
# hyphens, marks of text direction, and byte order marks. A zero-width space does separate words.
_CONTROLS = (*range(9), *range(14, 28), *range(0x7F, 0x85), *range(0x86, 0xA0))
_FORMATS = (0xAD, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF)
_INVISIBLE = str.maketrans(dict.fromkeys(_CONTROLS + _FORMATS) | {0x200B: " "})


_WORD = re.compile(r"[^ \t\r\n]+")


def is_invisible(letter: str) -> bool:
    """Whether this character is invisible; such characters do not belong to any word."""
    return ord(letter) in _INVISIBLE


def split_at_spaces(line: str) -> list[str]:
    """Return the words of a tokenised text, which are separated by spaces, tabs and line ends.

    A no-break space is part of its word, and so are other Unicode spaces: links refer to words by numbers, so words have to
    be counted as in other tools.
    """
    return _WORD.findall(line)


class Tokenizer:
    """Tokenises lines into words, and detokenises words to lines.

    The kind `moses` is the Moses tokeniser (sacremoses) for running text: cased, without XML escapes, and without splitting
    at hyphens. It differs from Moses in one respect: the typographic apostrophe counts as an apostrophe (`l’ homme`, not
    `l ’ homme`). The kind `whitespace` is for text that is already tokenised.
    """

    def __init__(self, kind: TokenizerKind, language: str, normalize: bool = False, protect: bool = False) -> None:
        """`language` is a code such as `en`; for a language that Moses does not know, it uses the rules for English.

        With `normalize`, text is tokenised in its plain form (`rnnsearch.text.normalization`), but the words keep their
        original spelling. With `protect`, a protected span (`rnnsearch.text.protected`) is one word. Raises RnnsearchError
        if `language` is not such a code and the tokeniser is that of Moses.
        """
        self.kind = kind
        self.normalize = normalize
        self.protect = protect
        self.language = language
        if kind == "moses":
            if not re.fullmatch("[a-z]{2,3}", language):
                raise RnnsearchError(
                    f"{language!r} is no language code; Moses tokenisation needs one of two or three "
                    "letters, such as en or fr"
                )
            self._moses, self._moses_back = _moses(language)

    def tokenize(self, line: str) -> list[str]:
        """Return the words of `line`: none is empty, and none contains a space that separates words (`split_at_spaces`)."""
        if self.kind == "whitespace":
            return split_at_spaces(line)
        if self.protect:
            return self.tokenize_around(line, find_protected(line, self.language))
        return self._tokenize(line)

    def tokenize_around(self, line: str, spans: Sequence[Protected]) -> list[str]:
        """Return the words of `line`, in which each of these spans is one word."""
        return cut_around(line, spans, self._tokenize)

    def _tokenize(self, line: str) -> list[str]:
        line = line.translate(_INVISIBLE)
        read = plain(line) if self.normalize else line.replace("’", "'")
        words: list[str] = self._moses.tokenize(read, escape=False)
        if read == line:
            return words
        return as_written(words, line) if self.normalize else _with_letters(words, "".join(line.split()))

    def detokenize(self, tokens: Sequence[str], kept: Collection[str] = ()) -> str:
        """Join `tokens` to a line, with the usual spaces at punctuation, quotation marks, clitics and currency symbols.

        With `protect`, the words that are `kept` are spans, too.
        """
        if self.kind == "whitespace":
            return " ".join(tokens)
        if self.protect:
            return join_around(tokens, self.language, self._detokenize_runs, kept)
        return self._detokenize(tokens)

    def _detokenize_runs(self, tokens: Sequence[str]) -> str:
        """Join `tokens` to a line without spaces inside runs such as `!!!` and `?!`, and around `/`, which Moses writes.

        If the source has spaces around `/`, it is among the words that are `kept`.
        """
        return _WITHIN_RUN.sub("", self._detokenize(tokens))

    def _detokenize(self, tokens: Sequence[str]) -> str:
        plain = [_plain_marks(token, tokens) for token in tokens]
        line: str = self._moses_back.detokenize(plain, unescape=False)
        if plain == list(tokens):
            return line
        return " ".join(_with_letters(line.split(" "), "".join(tokens)))


_WITHIN_RUN = re.compile(r"(?<=[!?]) +(?=[!?])| (?=/)|(?<=/) ")


def _plain_marks(token: str, tokens: Sequence[str]) -> str:
    """Return `token` with marks that the Moses detokeniser does not know replaced by such that it knows."""
    if token == "…":
        return "."
    if token == "”":
        return '"'
    if token == "‘" or (token == "’" and "‘" in tokens):
        return "`"
    return token.replace("’", "'")


def _with_letters(words: list[str], letters: str) -> list[str]:
    """Return `words` with their letters replaced by `letters`, which restores the spelling if Moses only moved spaces."""
    if sum(map(len, words)) != len(letters):
        return words
    remaining = iter(letters)
    return ["".join(islice(remaining, len(word))) for word in words]


@dataclass(frozen=True)
class _PatternOf:
    """A pattern with a letter that every match contains; it is tried only on text with this letter."""

    letter: str
    pattern: Expression

    def sub(self, replacement: str, text: str) -> str:
        return self.pattern.sub(replacement, text) if self.letter in text else text


_MANY_LETTERS = re.compile(r"[^\x00-\x7f]{100,}")
_IMPORTING = threading.Lock()
"""The lock for replacing `re.compile`: two threads that restored it in the wrong order would leave the replacement."""


_UNUSED = ("joblib", "tqdm", "xml.sax.saxutils")
"""What sacremoses imports for many processes, progress bars and escapes, which are not used here."""


class _Later(ModuleType):
    """A module of functions, which is imported when one of them is called."""

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: getattr(importlib.import_module(self.__name__), name)(*given, **named)


@functools.cache
def _sacremoses() -> ModuleType:
    """Import sacremoses in a small part of the usual time.

    Its patterns list all letters of Unicode one by one, and compiling them takes nearly half of the time to load a
    translator. Here, consecutive letters are replaced by a range, and patterns are compiled when they are first used; they
    match the same text.
    """
    with _IMPORTING:
        compile_pattern = re.compile

        def compile_ranges(pattern: Any, flags: Any = 0) -> Any:
            if isinstance(pattern, str):
                pattern = _MANY_LETTERS.sub(lambda letters: _ranges(letters[0]), pattern)
            return Expression(pattern, flags, compile_pattern)

        later = {name: _Later(name) for name in _UNUSED if name not in sys.modules}
        sys.modules.update(later)
        re.compile = compile_ranges
        try:
            return importlib.import_module("sacremoses")
        finally:
            re.compile = compile_pattern
            for name in later:
                del sys.modules[name]


@functools.cache
def _ranges(letters: str) -> str:
    """Return the letters of a character class of a regular expression as ranges: `abcxyz` becomes `a-cx-z`."""
    codes = np.frombuffer(letters.encode("utf-32-le"), dtype="<i4")
    ends = np.flatnonzero(np.diff(codes) != 1)
    firsts, lasts = codes[[0, *(ends + 1)]].tolist(), codes[[*ends, -1]].tolist()
    pairs = zip(map(chr, firsts), map(chr, lasts), strict=True)
    return "".join(first if first == last else f"{first}-{last}" for first, last in pairs)


@functools.cache
def _moses(language: str) -> tuple[Any, Any]:
    """Return the tokeniser and the detokeniser of sacremoses for a language."""
    sacremoses = _sacremoses()
    letter = Expression(f"[{_ranges(sacremoses.MosesTokenizer.IsAlpha)}]", compiler=re.compile)
    lowercase = frozenset(sacremoses.MosesTokenizer.IsLower)

    class FastMosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc, name-defined]
        """A tokeniser with the same result in half the time, which tries patterns only on text that has their letter.

        For every word with a full stop, the original also builds a set of all letters, which takes half a millisecond.
        """

        def __init__(self, language: str) -> None:
            super().__init__(language)
            for name in ("COMMA_SEPARATE_1", "COMMA_SEPARATE_2", "COMMA_SEPARATE_3"):
                pattern, replacement = getattr(self, name)
                setattr(self, name, (_PatternOf(",", pattern), replacement))
            for name in ("ENGLISH_SPECIFIC_APOSTROPHE", "FR_IT_SPECIFIC_APOSTROPHE"):
                rules = [(_PatternOf("'", pattern), replacement) for pattern, replacement in getattr(self, name)]
                setattr(self, name, rules)

        def handles_nonbreaking_prefixes(self, text: str) -> str:
            """Separate a full stop that ends a sentence; the original decides by the word and the next one."""
            words = text.split()
            for i, word in enumerate(words):
                if word.endswith("."):
                    stays = super().handles_nonbreaking_prefixes(" ".join(words[i : i + 2])).startswith(word)
                    words[i] = word if stays else f"{word[:-1]} ."
            return " ".join(words)

        def isanyalpha(self, text: str) -> bool:
            return letter.search(text) is not None

        def islower(self, text: str) -> bool:
            return lowercase.issuperset(text)

    return FastMosesTokenizer(language), sacremoses.MosesDetokenizer(language)


def language_of(path: str | os.PathLike[str]) -> str | None:
    """Return the language code in a file name, such as `en` for `train.en.gz`, or None if there is none."""
    path = Path(path)
    code = (path.with_suffix("") if path.suffix in (".gz", ".xz", ".bz2", ".zst") else path).suffix.removeprefix(".")
    return code if len(code) == 2 and code in _sacremoses().corpus.NonbreakingPrefixes().available_langs else None
