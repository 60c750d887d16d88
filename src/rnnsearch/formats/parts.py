"""Documents as parts: texts to translate and other changes; everything between the parts stays the same byte for byte."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.text_files import mark_of, separated
from rnnsearch.formats.units import Head, without_surrogates


@dataclass(frozen=True, slots=True)
class Change:
    """A span of a document that is replaced by new markup, such as the state of a translation."""

    start: int
    """The position of its first character."""
    stop: int
    """The position after its last character; the same as `start` for an insertion."""
    new: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A span of a document that is replaced by the translation of a text."""

    start: int
    stop: int
    text: str
    """The text to translate."""
    written: Callable[[str], str]
    """A function that returns a translation as it is written in the document."""
    markup: Literal["plain", "xml", "html"] = "plain"
    """The markup of the text and its translation: only tags (`plain`), tags and character references (`xml`), or HTML."""
    lines: bool = True
    """Whether line ends are kept; otherwise, they count as white space."""


TRANSLATED = "translated already"


@dataclass(frozen=True, slots=True)
class Kept:
    """A text that is not translated but stays as it is."""

    start: int
    reason: str
    """The reason, as a message gives it after the number of such texts."""


Part = Change | Slot | Kept


def in_place(
    start: int, raw: str, text: str, written: Callable[[str], str], markup: Literal["plain", "xml"] = "plain"
) -> Slot:
    """Return the slot of a text that is translated in place; if the translation is the same, `raw` stays unchanged."""
    return Slot(start, start + len(raw), text, lambda new: raw if new == text else written(new), markup)


class PartsFormat(Protocol):
    """A format of files, or of parts of files, that have texts to translate."""

    name: ClassVar[str]
    """The name of the format in messages."""
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]]
    """The treatment of characters that the encoding of a document lacks: refuse them, or write references."""

    def encoding(self, content: bytes) -> str:
        """Return the encoding of a file without a byte order mark."""
        ...

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the parts that change, in order, and the texts that stay as they are.

        In a bilingual file, these are the missing translations, or, with `again`, all translations. Raises RnnsearchError,
        with the place, for a file that is damaged or hostile.
        """
        ...


class DocumentFormat(PartsFormat, Protocol):
    """A format of files that are translated into files of the same format."""

    def recognises(self, head: Head) -> bool:
        """Whether a file with this name and these first bytes has this format."""
        ...


class DocumentFile:
    """A document with the slots of its texts, which can be written with other texts in the slots."""

    def __init__(self, content: bytes, format_: PartsFormat, path: Path, again: bool = False) -> None:
        """See `DocumentFormat.parts` for `again`. Raises RnnsearchError for a file that is damaged or hostile."""
        self._path, self._format = path, format_
        self._mark = mark_of(content)
        self._text, self._codec = separated(content, path, format_.encoding(content))
        if not _writes_back(self._text, self._codec, content[len(self._mark) :]):
            raise RnnsearchError(f"{path}: in {self._codec}, which cannot be written as it was; convert it to UTF-8")
        parts = list(format_.parts(self._text, path, again))
        self._parts = [part for part in parts if not isinstance(part, Kept)]
        self.slots = [part for part in self._parts if isinstance(part, Slot)]
        self.kept = Counter(part.reason for part in parts if isinstance(part, Kept))
        """The numbers of texts that stay as they are, by the reason."""

    def joined(self, translations: Sequence[str]) -> bytes:
        """Return the document with these translations in its slots.

        Raises RnnsearchError if a translation has a character that the encoding of the document lacks.
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
        text.encode()  # raises UnicodeError for a lone surrogate
        return text.encode(codec) == content
    except UnicodeError:
        return False


# Code within a text ---------------------------------------------------------------------------------------------------

KEPT = "keep"
"""The name of elements whose code the translation keeps unchanged; the text has the words that the code stands for."""
_NAME = r"\s?[\w.\[\]-]+(?:![rsa])?"
_STYLE = r"(?::[^{}\s]*|,\s*-?\d+(?::[^{}\s]*)?|,\s*(?:number|date|time|duration|ordinal|spellout)\b[^{}]*)?\s?"
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|(%(?:\d+\$|\([^()\s]+\)|\{\w+\})?[-+#0]*(?:\d+|\*)?(?:\.\d+)?(?:hh?|ll?|[qjztL])?[@diouxXeEfFgGcsSpn](?![^\W\d_])"
    r"|%L?\d{1,2}|%n|%%|%\{\w+\}|\$\{[^{}\s]*\}|\$t\([^()]*\)|\{\{[^{}]*\}\}|\{\}"
    rf"|\{{{_NAME}{_STYLE}\}}|\$\d+)"
)
"""Tags, and the placeholders of programs: of printf, Python, Qt, i18next, .NET and ICU, but no choices between forms."""
_ESCAPED_TAG = re.compile(r"&lt;(?P<slash>/?)(?P<name>[A-Za-z][\w:.-]*+)(?:\s+[\w:.-]+=[^<>]{1,500}?)?\s*/?(?:&gt;|>)")


class Codes:
    """The code within a text: elements, which a translation may move, stand for it until it is restored."""

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
        """Return an element without content that stands for code."""
        self._codes.append(code)
        return f"<{self._prefix}x{len(self._codes) - 1}/>"

    def around(self, start: str, text: str, end: str) -> str:
        """Return an element around a text that stands for the code at both ends of the text."""
        opening, closing = self._pair(start, end)
        return f"{opening}{text}{closing}"

    def _pair(self, start: str, end: str) -> tuple[str, str]:
        self._codes += [start, end]
        name = f"{self._prefix}g{len(self._codes) - 2}"
        return f"<{name}>", f"</{name}>"

    def tags(self, text: str) -> str:
        """Replace the tags of HTML that are text of XML, such as `&lt;b&gt;`, by elements."""
        tags = list(_ESCAPED_TAG.finditer(text))
        elements = {tag.start(): "" for tag in tags}
        opened: list[re.Match[str]] = []
        open_names = Counter[str]()
        for tag in tags:
            name = tag["name"]
            if not tag["slash"]:
                opened.append(tag)
                open_names[name] += 1
            elif open_names[name]:
                while (one := opened.pop())["name"] != name:
                    open_names[one["name"]] -= 1
                open_names[name] -= 1
                elements[one.start()], elements[tag.start()] = self._pair(one[0], tag[0])
        return _ESCAPED_TAG.sub(lambda tag: elements[tag.start()] or self.alone(tag[0]), text)

    def kept(self, code: str, words: str) -> str:
        """Return an element that stands for code with these words and that a translation keeps unchanged."""
        self._codes.append(code)
        return f"<{KEPT} {self._prefix}{len(self._codes) - 1}>{words.replace('<', ' ')}</{KEPT}>"

    def placeholders(self, text: str) -> str:
        """Replace the placeholders of programs in a text, such as `%s` and `{name}`, by elements that are kept."""
        return _PLACEHOLDER.sub(lambda match: self.kept(match[1], match[1]) if match[1] else match[0], text)

    def restored(self, text: str) -> str:
        """Replace the elements of a text by their code; a placeholder that already occurs as a word is not repeated."""
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


def variants_slot(start: int, raw: str, text: str, written: Callable[[str], str]) -> Slot:
    """Return the slot of a message of ICU with variants, whose line ends are white space between them."""
    return replace(in_place(start, raw, without_surrogates(text), written), lines=False)


def message_slot(start: int, raw: str, text: str, written: Callable[[str], str]) -> Slot:
    """Return the slot of a message of a program; the placeholders in the message are kept."""
    text = without_surrogates(text)
    codes = Codes(text)
    return in_place(start, raw, codes.placeholders(text), lambda new: written(codes.restored(new)))
