"""The units of a file: a text in one or more languages, or the reason why it is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from rnnsearch.formats.opening import File, without_compression

SOURCE, TARGET = "source", "target"
"""These stand for languages if a file states only the side of a text."""
NO_TEXT = "without text"
"""The reason why units without a text in one of the languages are left out."""
CHOICE = "with a choice between variants"
"""The reason why messages of ICU MessageFormat and Fluent with plural forms in them are left out."""
BETWEEN = "\x1f"
"""The separator of the parts of a message key."""
_TAG = re.compile(r"</?g\d+>|<x\d+/>")
_LONE_TAG = re.compile(r"(?<=\w)<x\d+/>(?=\w)")
_SPACE = re.compile("[ \t-\r\x1c-\x1f\x85\u2028\u2029]+")  # a no-break space is a part of the text
_SURROGATE = re.compile("[\ud800-\udfff]")


def one_line(text: str) -> str:
    """Return a text with each run of white space as one space and none at the ends; no-break spaces are kept."""
    return _SPACE.sub(" ", without_surrogates(text)).strip()


def without_surrogates(text: str) -> str:
    """Return a text in which each pair of surrogates is the character that it stands for, and any other surrogate U+FFFD.

    The escapes of JSON, Android and Apple can write surrogates, which no encoding of text has.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _SURROGATE.search(text) else text


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a unit in one language."""

    language: str
    """The language tag in the spelling of the file, such as `en` or `EN-US`; or `SOURCE` or `TARGET`."""
    text: str
    """The text, in which inline tags are `<g1>`, `</g1>` and `<x2/>`, numbered alike in all languages of the unit."""
    tagged: bool = False
    """Whether there are inline tags in the text."""
    form: int = 0
    """The number of its plural form; texts of different forms are no pair."""

    def line(self, tags: bool) -> str:
        """Return the text on one line, as `one_line` does, with or without inline tags.

        If tags are left out, a tag that stands alone between two words becomes a space.
        """
        text = self.text
        if self.tagged and not tags:
            text = _TAG.sub("", _LONE_TAG.sub(" ", text))
        return one_line(text)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a file that holds several languages."""

    place: int
    """The line of the file where the unit begins, or its number; see `Format.places`."""
    texts: list[Text]
    """Its texts, the source first if the file says which one that is."""
    left_out: str | None = None
    """The reason why the unit is left out; None if it is used."""


@dataclass(frozen=True, slots=True)
class Message:
    """A unit of a file that holds one language."""

    key: str
    """The key, which is the same for this message in all languages."""
    place: int
    text: Text
    left_out: str | None = None


@dataclass(frozen=True)
class Head:
    """The beginning of a file, from which its format is recognised: its name and its first bytes."""

    path: Path
    start: bytes
    """The first bytes, decompressed."""
    text: str = field(init=False)
    """The same as text, in UTF-16 if a byte order mark says so, without the mark; damaged characters are replaced."""

    def __post_init__(self) -> None:
        encoding = "utf-16" if self.start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        object.__setattr__(self, "text", self.start.decode(encoding, "replace"))


def ending(head: Head) -> str:
    """Return the ending of the name of a file in small letters, without the ending of its compression."""
    return without_compression(head.path).suffix.lower()


class Format(Protocol):
    """A format with both sides of pairs in one file."""

    name: ClassVar[str]
    """What it is called in messages."""
    places: ClassVar[str]
    """The name of what `Unit.place` counts: "line", "row" or "unit"."""
    assumed_source: ClassVar[str | None]
    """The language of the source if the file does not state it."""

    def recognises(self, head: Head) -> bool:
        """Whether a file with this name and these first bytes has this format."""
        ...

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the units. Raises RnnsearchError, with the place, for a file that is damaged or hostile."""
        ...


class WrittenFormat(Format, Protocol):
    """A format with both sides of pairs that can also be written, one unit after another."""

    def beginning(self, source: str) -> str:
        """Return the text before the units, for this source language."""
        ...

    def unit(self, texts: dict[str, str]) -> str:
        """Return a unit with a text in each language, with a line feed at its end."""
        ...

    def end(self) -> str:
        """Return the text after the units."""
        ...


class MessageFormat(Protocol):
    """A format with messages in one language, each with a key that is the same in the files of other languages."""

    name: ClassVar[str]
    places: ClassVar[str]

    def recognises(self, head: Head) -> bool:
        """Whether a file with this name and these first bytes has this format."""
        ...

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the messages. Raises RnnsearchError, with the place, for a file that is damaged or hostile."""
        ...
