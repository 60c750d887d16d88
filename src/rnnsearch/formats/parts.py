"""A document as parts: the texts to translate, what else changes with them, and between these what stays byte for byte."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.text_files import mark_of, separated
from rnnsearch.formats.units import Head


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of a document that is replaced by something else, such as the state of a translation."""

    start: int
    """The place of its first character."""
    stop: int
    """The place after its last character; the same as `start` where something is inserted."""
    new: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A stretch of a document that is replaced by the translation of a text."""

    start: int
    stop: int
    text: str
    """The text to translate."""
    written: Callable[[str], str]
    """How the document has a translation of the text."""
    markup: Literal["plain", "xml", "html"] = "plain"
    """What the text and its translation are: plain text with tags, if any, or text with character references, or HTML."""
    lines: bool = True
    """Whether a line end is one; otherwise, it is white space like any other."""


Part = Change | Slot


def in_place(
    start: int, raw: str, text: str, written: Callable[[str], str], markup: Literal["plain", "xml"] = "plain"
) -> Slot:
    """The slot of a text where the source itself stands, which stays as it is written where the translation is the same."""
    return Slot(start, start + len(raw), text, lambda new: raw if new == text else written(new), markup)


class PartsFormat(Protocol):
    """A kind of texts with parts to translate: a file, or a part of one."""

    name: ClassVar[str]
    """What it is called in messages."""
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]]
    """What is done with a character that the encoding of a document does not have: refuse it, or write a reference."""

    def encoding(self, content: bytes) -> str:
        """The encoding of a file, where no byte order mark says it."""
        ...

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the parts, in order, that do not stay as they are.

        Where the file has both sides, these are the translations that are missing; or all of them, if they are to be made
        `again`. Raises RnnsearchError, with the place, for a file that is damaged or hostile.
        """
        ...


class DocumentFormat(PartsFormat, Protocol):
    """A kind of files that are translated into a file of the same kind."""

    def recognises(self, head: Head) -> bool:
        """Whether a file that begins so is of this kind."""
        ...


class DocumentFile:
    """A document: its texts, and the document with other texts in their place."""

    def __init__(self, content: bytes, format_: PartsFormat, path: Path, again: bool = False) -> None:
        """See `DocumentFormat.parts` for `again`. Raises RnnsearchError for a file that is damaged or hostile."""
        self._path, self._format = path, format_
        self._mark = mark_of(content)
        self._text, self._codec = separated(content, path, format_.encoding(content))
        if not _writes_back(self._text, self._codec, content[len(self._mark) :]):
            raise RnnsearchError(f"{path}: in {self._codec}, which cannot be written as it was; convert it to UTF-8")
        self._parts = list(format_.parts(self._text, path, again))
        self.slots = [part for part in self._parts if isinstance(part, Slot)]

    def joined(self, translations: Sequence[str]) -> bytes:
        """The document with these translations in its slots.

        Raises RnnsearchError for one with a character that the encoding of the document does not have.
        """
        new = iter(translations)
        written: list[str] = []
        place = 0
        for part in self._parts:
            written.append(self._text[place : part.start])
            written.append(part.new if isinstance(part, Change) else part.written(next(new)))
            place = part.stop
        try:
            return self._mark + "".join([*written, self._text[place:]]).encode(self._codec, self._format.unencodable)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise RnnsearchError(
                f"{self._path}: its encoding {self._codec} has no {character!r}, which the translation needs; convert the "
                "file to UTF-8"
            ) from None


def _writes_back(text: str, codec: str, content: bytes) -> bool:
    try:
        text.encode()  # half a pair of surrogates is no text
        return text.encode(codec) == content
    except UnicodeError:
        return False


# Code within a text ---------------------------------------------------------------------------------------------------

KEPT = "keep"
"""The name of elements with code that the translation has as it is, at the place of what was read from it."""
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|(%(?:\d+\$|\([^()\s]+\)|\{\w+\})?[-+#0]*(?:\d+|\*)?(?:\.\d+)?(?:hh?|ll?|[qjztL])?[@diouxXeEfFgGcsSpn](?![^\W\d_])"
    r"|%L?\d{1,2}|%n|%%|%\{\w+\}|\$\{[^{}\s]*\}|\{\{[^{}]*\}\}|\{\w*\}|\$\d+)"
)


class Codes:
    """The code within a text: it is written as elements, which a translation may move, and takes their place again."""

    def __init__(self, raw: str) -> None:
        """`raw` is the text as its file has it."""
        self._prefix = ""
        while re.search(rf"</?{self._prefix}(?:[gx]\d|{KEPT} )", raw):
            self._prefix += "z"
        self._codes: list[str] = []
        self._place = re.compile(
            rf"<(?:{self._prefix}x(\d+)/|/?{self._prefix}g(\d+))>|<{KEPT} {self._prefix}(\d+)>[^<]*</{KEPT}>"
        )

    def alone(self, code: str) -> str:
        """An element without content in place of code."""
        self._codes.append(code)
        return f"<{self._prefix}x{len(self._codes) - 1}/>"

    def around(self, start: str, text: str, end: str) -> str:
        """An element around a text, in place of code at both its ends."""
        self._codes += [start, end]
        name = f"{self._prefix}g{len(self._codes) - 2}"
        return f"<{name}>{text}</{name}>"

    def kept(self, code: str, words: str) -> str:
        """An element whose content the translation has as it is, in place of code with these words."""
        self._codes.append(code)
        return f"<{KEPT} {self._prefix}{len(self._codes) - 1}>{words.replace('<', ' ')}</{KEPT}>"

    def placeholders(self, text: str) -> str:
        """A text in which what programs replace, such as `%s` and `{name}`, is kept."""
        return _PLACEHOLDER.sub(lambda match: self.kept(match[1], match[1]) if match[1] else match[0], text)

    def restored(self, text: str) -> str:
        """A text with its code again. A placeholder that a translation has as a word is not there a second time."""
        copied = Counter(match[1] for match in _PLACEHOLDER.finditer(self._place.sub("", text)) if match[1])
        parts: list[str] = []
        place = 0
        for match in self._place.finditer(text):
            before, place = text[place : match.start()], match.end()
            number = int(match[1] or match[2] or match[3]) + match[0].startswith("</")
            code = self._codes[number] if number < len(self._codes) else match[0]
            if match[3] and copied[code]:
                copied[code] -= 1
                code = ""
                if not text[place : place + 1].isalnum():
                    before = before.removesuffix(" ")
            parts += [before, code]
        return "".join([*parts, text[place:]])


def message_slot(start: int, raw: str, text: str, written: Callable[[str], str]) -> Slot:
    """The slot of a text for people in a program, in which what the program replaces is kept."""
    codes = Codes(text)
    return in_place(start, raw, codes.placeholders(text), lambda new: written(codes.restored(new)))
