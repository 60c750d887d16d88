"""Running text to words and back again, as the Moses scripts do it."""

from __future__ import annotations

import functools
import importlib
import os
import re
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from unittest import mock

import numpy as np

from rnnsearch.errors import RnnsearchError
from rnnsearch.text.normalization import as_written, plain
from rnnsearch.text.protected import Protected, cut_around, find_protected, join_around

TokenizerKind = Literal["moses", "whitespace"]

# Characters that nobody sees would become words of their own, or cut one in two (a soft hyphen does): control
# characters, soft hyphen, text direction, byte order mark. A zero-width space does separate words.
_CONTROLS = (*range(9), *range(14, 28), *range(0x7F, 0x85), *range(0x86, 0xA0))
_FORMATS = (0xAD, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF)
_INVISIBLE = str.maketrans(dict.fromkeys(_CONTROLS + _FORMATS) | {0x200B: " "})


_WORD = re.compile(r"[^ \t\r\n]+")


def is_invisible(letter: str) -> bool:
    """Whether nobody sees this character, so that it is in no word."""
    return ord(letter) in _INVISIBLE


def split_at_spaces(line: str) -> list[str]:
    """The words of tokenised text, which spaces and tabs separate, and line ends.

    A no-break space is a part of its word, and so are other spaces of Unicode: links name words by numbers, as all tools
    count them.
    """
    return _WORD.findall(line)


class Tokenizer:
    """Cuts a line into words, and joins words to a line.

    `moses` is the Moses tokeniser (sacremoses) for running text: cased, without XML escapes, and without
    splitting at hyphens. In one thing it differs: the typographic apostrophe is an apostrophe (`l’ homme`,
    not `l ’ homme`). `whitespace` is for text that is tokenised already.
    """

    def __init__(self, kind: TokenizerKind, language: str, normalize: bool = False, protect: bool = False) -> None:
        """`language` is a code such as `en`; Moses has English rules for a language that it does not know.

        With `normalize`, running text is cut where its plain form (`rnnsearch.text.normalization`) is; the words are spelt
        as they were written. With `protect`, a span to be kept (`rnnsearch.text.protected`) is one word.
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
        """The words of `line`: none is empty or holds white space, but for what is no space in `split_at_spaces`."""
        if self.kind == "whitespace":
            return split_at_spaces(line)
        if self.protect:
            return self.tokenize_around(line, find_protected(line, self.language))
        return self._tokenize(line)

    def tokenize_around(self, line: str, spans: Sequence[Protected]) -> list[str]:
        """The words of `line`, each of these spans being one."""
        return cut_around(line, spans, self._tokenize)

    def _tokenize(self, line: str) -> list[str]:
        line = line.translate(_INVISIBLE)
        read = plain(line) if self.normalize else line.replace("’", "'")
        words: list[str] = self._moses.tokenize(read, escape=False)
        if read == line:
            return words
        return as_written(words, line) if self.normalize else _with_letters(words, "".join(line.split()))

    def detokenize(self, tokens: Sequence[str], kept: Collection[str] = ()) -> str:
        """`tokens` as a reader writes them: punctuation, quotes, clitics and currency where they belong.

        With `protect`, the words that are `kept` are spans, too.
        """
        if self.kind == "whitespace":
            return " ".join(tokens)
        if self.protect:
            return join_around(tokens, self.language, self._detokenize, kept)
        return self._detokenize(tokens)

    def _detokenize(self, tokens: Sequence[str]) -> str:
        plain = [_plain_quotes(token, tokens) for token in tokens]
        line: str = self._moses_back.detokenize(plain, unescape=False)
        if plain == list(tokens):
            return line
        return " ".join(_with_letters(line.split(" "), "".join(tokens)))


def _plain_quotes(token: str, tokens: Sequence[str]) -> str:
    """`token` with those quotes that the Moses detokeniser does not know replaced by ones that it does."""
    if token == "”":
        return '"'
    if token == "‘" or (token == "’" and "‘" in tokens):
        return "`"
    return token.replace("’", "'")


def _with_letters(words: list[str], letters: str) -> list[str]:
    """`words` spelt with `letters`: Moses has only moved the spaces between them, so they can be put back."""
    if sum(map(len, words)) != len(letters):
        return words
    remaining = iter(letters)
    return ["".join(islice(remaining, len(word))) for word in words]


@dataclass(frozen=True)
class _PatternOf:
    """A pattern which is tried only on text that has the letter without which it never matches."""

    letter: str
    pattern: re.Pattern[str]

    def sub(self, replacement: str, text: str) -> str:
        return self.pattern.sub(replacement, text) if self.letter in text else text


_MANY_LETTERS = re.compile(r"[^\x00-\x7f]{100,}")
_IMPORTING = threading.Lock()
"""Two threads that put `re.compile` back in the wrong order would leave the changed one."""


@functools.cache
def _sacremoses() -> ModuleType:
    """Import sacremoses in a quarter of the time.

    Its patterns name all letters of Unicode one by one, and to compile them is nearly half of the time that a translator
    takes to load. Here they are compiled with a range in the place of each run of neighbours, and match the same.
    """
    with _IMPORTING:
        compile_pattern = re.compile

        def compile_ranges(pattern: Any, flags: Any = 0) -> Any:
            if isinstance(pattern, str):
                pattern = _MANY_LETTERS.sub(lambda letters: _ranges(letters[0]), pattern)
            return compile_pattern(pattern, flags)

        with mock.patch.object(re, "compile", compile_ranges):
            return importlib.import_module("sacremoses")


@functools.cache
def _ranges(letters: str) -> str:
    """These letters of a class of a regular expression, as ranges: `abcxyz` as `a-cx-z`."""
    codes = np.frombuffer(letters.encode("utf-32-le"), dtype="<i4")
    ends = np.flatnonzero(np.diff(codes) != 1)
    firsts, lasts = codes[[0, *(ends + 1)]].tolist(), codes[[*ends, -1]].tolist()
    pairs = zip(map(chr, firsts), map(chr, lasts), strict=True)
    return "".join(first if first == last else f"{first}-{last}" for first, last in pairs)


@functools.cache
def _moses(language: str) -> tuple[Any, Any]:
    """Tokeniser and detokeniser of sacremoses."""
    sacremoses = _sacremoses()
    letters = frozenset(sacremoses.MosesTokenizer.IsAlpha)
    lowercase = frozenset(sacremoses.MosesTokenizer.IsLower)

    class FastMosesTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc, name-defined]
        """The same words in half the time: only what has a comma, an apostrophe or a full stop is searched for it.

        The original also builds a set of all letters anew for a word with a full stop: half a millisecond.
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
            """Cut the full stop off where it ends a sentence, for which the original looks at the next word, too."""
            words = text.split()
            for place, word in enumerate(words):
                if word.endswith("."):
                    stays = super().handles_nonbreaking_prefixes(" ".join(words[place : place + 2])).startswith(word)
                    words[place] = word if stays else f"{word[:-1]} ."
            return " ".join(words)

        def isanyalpha(self, text: str) -> bool:
            return not letters.isdisjoint(text)

        def islower(self, text: str) -> bool:
            return lowercase.issuperset(text)

    return FastMosesTokenizer(language), sacremoses.MosesDetokenizer(language)


def language_of(path: str | os.PathLike[str]) -> str | None:
    """The language that a file's name tells: `en` for `train.en.gz`; None where it tells none."""
    path = Path(path)
    code = (path.with_suffix("") if path.suffix in (".gz", ".xz") else path).suffix.removeprefix(".")
    return code if len(code) == 2 and code in _sacremoses().corpus.NonbreakingPrefixes().available_langs else None
