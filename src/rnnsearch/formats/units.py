"""The units of a file: a text in one or more languages, or the reason why it is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from rnnsearch.formats.opening import File, without_compression

SOURCE, TARGET = "source", "target"
"""In place of a language, where a file says only which side a text belongs to."""
BETWEEN = "\x1f"
"""Between the parts of the key of a message."""
_TAG = re.compile(r"</?g\d+>|<x\d+/>")
_LONE_TAG = re.compile(r"(?<=\w)<x\d+/>(?=\w)")
_SPACE = re.compile("[ \t-\r\x1c-\x1f\x85\u2028\u2029]+")  # a no-break space is a part of the text


def one_line(text: str) -> str:
    """Return a text with one space for white space, which is left out at the ends; no-break spaces stay."""
    return _SPACE.sub(" ", text).strip()


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a unit in one language."""

    language: str
    """A language tag as the file has it, such as `en` or `EN-US`; or `SOURCE` or `TARGET`."""
    text: str
    """The text, in which inline tags are `<g1>`, `</g1>` and `<x2/>`, numbered alike in all languages of the unit."""
    tagged: bool = False
    """Whether there are inline tags in the text."""
    form: int = 0
    """Which of the plural forms it is; texts of different forms are no pair."""

    def line(self, tags: bool) -> str:
        """The text on one line: white space is one space each, and none is at the ends; with or without inline tags.

        A tag that stands alone between two words is a space where tags are left out.
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
    """The reason why the unit is not to be used, or None."""


@dataclass(frozen=True, slots=True)
class Message:
    """A unit of a file that holds one language."""

    key: str
    """What it has in common with the same message in other languages."""
    place: int
    text: Text
    left_out: str | None = None


@dataclass(frozen=True)
class Head:
    """What is known of a file before it is read: its name and its first bytes."""

    path: Path
    start: bytes
    """The first bytes, decompressed."""
    text: str = field(init=False)
    """The same as text, in UTF-16 if a byte order mark says so, without the mark; damaged characters are replaced."""

    def __post_init__(self) -> None:
        encoding = "utf-16" if self.start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        object.__setattr__(self, "text", self.start.decode(encoding, "replace"))


def ending(head: Head) -> str:
    """The ending of the name of a file, in small letters and without that of its compression."""
    return without_compression(head.path).suffix.lower()


class Format(Protocol):
    """A kind of files with both sides of pairs in one file."""

    name: ClassVar[str]
    """What it is called in messages."""
    places: ClassVar[str]
    """What `Unit.place` counts: "line", "row" or "unit"."""
    assumed_source: ClassVar[str | None]
    """The language of the source where the file does not say it."""

    def recognises(self, head: Head) -> bool:
        """Whether a file that begins so is of this kind."""
        ...

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the units. Raises RnnsearchError, with the place, for a file that is damaged or hostile."""
        ...


class WrittenFormat(Format, Protocol):
    """A kind of files with both sides of pairs that are also written, one unit after the other."""

    def beginning(self, source: str) -> str:
        """What is before the units, for this source language."""
        ...

    def unit(self, texts: dict[str, str]) -> str:
        """A unit with a text in each language, with the line feed at its end."""
        ...

    def end(self) -> str:
        """What is after the units."""
        ...


class MessageFormat(Protocol):
    """A kind of files with messages in one language, each with a key that the files of other languages have too."""

    name: ClassVar[str]
    places: ClassVar[str]

    def recognises(self, head: Head) -> bool:
        """Whether a file that begins so is of this kind."""
        ...

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the messages. Raises RnnsearchError, with the place, for a file that is damaged or hostile."""
        ...
