"""Files of messages in one language: JSON, Apple's strings, Fluent, subtitles, and the resources of Android and .NET."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.inline import Inline, text_of
from rnnsearch.formats.opening import File, without_compression
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import SOURCE, Head, Message, Text
from rnnsearch.formats.xliff import NOT_TO_TRANSLATE
from rnnsearch.formats.xml import elements, root_of
from rnnsearch.untrusted import parse_json

_BETWEEN = "\x1f"
"""Between the parts of a key."""


def _ending(head: Head) -> str:
    return without_compression(head.path).suffix.lower()


class JsonMessages:
    """JSON with strings under keys, nested or not, as MediaWiki, i18next, Flutter (ARB) and browser extensions have it."""

    name: ClassVar[str] = "JSON"
    places: ClassVar[str] = "message"

    def recognises(self, head: Head) -> bool:
        """Whether it is an object, by its beginning and its name."""
        return _ending(head) in (".json", ".arb") and re.match(r'\s*\{\s*["}]', head.text) is not None

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings; what is under keys that begin with `@` is about them."""
        try:
            content = parse_json(decoded(read_whole(file, path), path))
        except ValueError as error:
            raise RnnsearchError(f"{path}: not JSON ({error})") from None
        for number, (key, text) in enumerate(_strings(content, ""), 1):
            yield Message(key, number, Text(SOURCE, text))


def _strings(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from _strings(element, f"{key}{_BETWEEN}{number}")
    elif isinstance(value, dict):
        described = value.keys() & {"message", "defaultMessage", "string"}
        for name, element in value.items():
            if not name.startswith("@") and (not described or name in described):
                yield from _strings(element, f"{key}{_BETWEEN}{name}")


class AppleStrings:
    """`"key" = "text";` as on macOS and iOS."""

    name: ClassVar[str] = "Apple strings"
    places: ClassVar[str] = "line"
    _entry = re.compile(
        r'\s+|/\*.*?\*/|//[^\n]*|(?:"((?:[^"\\]|\\.)*)"|([\w.$/:-]+))\s*(?:/\*.*?\*/\s*)?=\s*"((?:[^"\\]|\\.)*)"\s*;',
        re.DOTALL,
    )
    _escape = re.compile(r"\\(?:U([0-9a-fA-F]{4})|(.))", re.DOTALL)

    def recognises(self, head: Head) -> bool:
        """Whether an entry is in it and its name ends in `.strings`."""
        return _ending(head) == ".strings"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the entries. Raises RnnsearchError, with the line, for anything else."""
        text = decoded(read_whole(file, path), path)
        place, line = 0, 1
        while place < len(text):
            match = self._entry.match(text, place)
            if match is None:
                raise RnnsearchError(f'{path}:{line}: not an entry of the form "key" = "text";')
            key = match[1] if match[2] is None else match[2]
            if key is not None:
                yield Message(key, line, Text(SOURCE, self._escape.sub(self._unescape, match[3])))
            line += text.count("\n", place, match.end())
            place = match.end()

    @staticmethod
    def _unescape(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t", "r": "\r"}.get(match[2], match[2])


class Fluent:
    """Messages, terms and attributes of Project Fluent."""

    name: ClassVar[str] = "Fluent"
    places: ClassVar[str] = "line"
    _entry = re.compile(r"(-?[A-Za-z][\w-]*) *= *(.*)")
    _attribute = re.compile(r" +\.([A-Za-z][\w-]*) *= *(.*)")
    _placeable = re.compile(r"\{\s*([^{}\s\"]+)\s*\}")

    def recognises(self, head: Head) -> bool:
        """Whether its name ends in `.ftl`."""
        return _ending(head) == ".ftl"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the values; one with a choice between variants is left out."""
        owner, key, start, value = "", "", 0, list[str]()
        for number, line in enumerate([*decoded(read_whole(file, path), path).splitlines(), "#"], 1):
            entry, attribute = self._entry.match(line), self._attribute.match(line)
            if value and (entry or attribute or line.startswith("#")):
                text = " ".join(part.strip() for part in value).strip()
                if text:
                    reason = "with a choice between variants" if "->" in text else None
                    yield Message(key, start, Text(SOURCE, self._placeable.sub(r"{\1}", text)), reason)
                value = []
            if entry:
                owner, key, start, value = entry[1], entry[1], number, [entry[2]]
            elif attribute:
                key, start, value = f"{owner}.{attribute[1]}", number, [attribute[2]]
            elif value and (line.startswith((" ", "}")) or not line):
                value.append(line)


class Subtitles:
    """Cues of SubRip (`.srt`) and WebVTT (`.vtt`), whose keys are their times."""

    name: ClassVar[str] = "subtitles"
    places: ClassVar[str] = "line"
    _times = re.compile(r"\s*((?:\d+:)?\d+:\d+[.,]\d+)\s*-->\s*((?:\d+:)?\d+:\d+[.,]\d+)(?:[ \t].*)?\s*")
    _start = re.compile(r"\ufeff?(?:WEBVTT(?=\s|\Z)|\s*\d+\s+(?:\d+:)?\d+:\d+[.,]\d+\s*-->)")
    _tag = re.compile(r"</?[A-Za-z][^<>\n]*>|<[\d:.]+>|\{\\[^{}\n]*\}")
    _ends = re.compile(r"\r*\n|\r")

    def recognises(self, head: Head) -> bool:
        """Whether it begins with `WEBVTT`, or with a number and times."""
        return self._start.match(head.text) is not None

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the cues that have text."""
        lines = self._ends.split(decoded(read_whole(file, path), path))
        number = 0
        while number < len(lines):
            times = self._times.fullmatch(lines[number])
            number += 1
            if times is None:
                continue
            first = number
            while number < len(lines) and lines[number].strip() and not self._times.fullmatch(lines[number]):
                number += 1
            if text := "\n".join(lines[first:number]).strip():
                key = f"{_milliseconds(times[1])}{_BETWEEN}{_milliseconds(times[2])}"
                yield Message(key, first, self._text(text))

    def _text(self, text: str) -> Text:
        """The text of a cue, with numbers for its tags."""
        numbers: dict[str, int] = {}
        opened: list[tuple[str, int]] = []

        def placeholder(match: re.Match[str]) -> str:
            tag = match[0]
            name = re.split(r"[\s.>]", tag.lstrip("</"))[0]
            if tag.startswith("</"):
                number = next((number for one, number in reversed(opened) if one == name), len(numbers) + 1)
                return f"</g{number}>"
            number = numbers.setdefault(f"{tag} {len(numbers)}", len(numbers) + 1)
            opened.append((name, number))
            return f"<g{number}>" if tag[1].isalpha() and f"</{name}>" in text else f"<x{number}/>"

        found = self._tag.sub(placeholder, text)
        return Text(SOURCE, found, tagged=found != text)


def _milliseconds(time: str) -> int:
    """The milliseconds of `01:02:03,004` or `02:03.004`."""
    *hours_minutes, seconds = time.replace(",", ".").split(":")
    total = 0
    for part in hours_minutes:
        total = 60 * total + int(part)
    return round(1000 * (60 * total + float(seconds)))


class Android:
    """String resources of Android: strings, plurals and arrays."""

    name: ClassVar[str] = "Android strings"
    places: ClassVar[str] = "line"
    _escape = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(.))|"', re.DOTALL)
    """An escape, or a quotation mark around text whose white space is kept."""

    def recognises(self, head: Head) -> bool:
        """Whether the root element is `resources`."""
        return root_of(head) == "resources"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings, each quantity of a plural and each item of an array by itself."""
        for found in elements(file, path, ("string", "plurals", "string-array")):
            element = found.element
            name = f"{element.tag}{_BETWEEN}{element.get('name', '')}"
            reason = NOT_TO_TRANSLATE if element.get("translatable") == "false" else None
            if element.tag == "string":
                yield Message(name, found.line, self._text(element), reason)
                continue
            for number, item in enumerate(element.iter("item")):
                yield Message(f"{name}{_BETWEEN}{item.get('quantity', number)}", found.line, self._text(item), reason)

    def _text(self, element: Element) -> Text:
        text = text_of(element, SOURCE, _android_role, {})
        plain = text.text.strip()
        return Text(SOURCE, self._escape.sub(self._unescape, plain), text.tagged)

    @staticmethod
    def _unescape(match: re.Match[str]) -> str:
        if match[0] == '"':
            return ""
        return chr(int(match[1], 16)) if match[1] else {"n": "\n", "t": "\t"}.get(match[2], match[2])


def _android_role(element: Element) -> Inline:
    """Markup such as `b` is a pair of tags; `xliff:g` says only what its content is."""
    return Inline("through") if element.tag == "g" else Inline("around", element.tag)


class ResX:
    """Resources of .NET."""

    name: ClassVar[str] = "ResX"
    places: ClassVar[str] = "line"

    def recognises(self, head: Head) -> bool:
        """Whether it is XML with the root `root` and has a schema or a header of ResX, or its name ends in `.resx`."""
        if root_of(head) != "root":
            return False
        return _ending(head) in (".resx", ".resw") or any(
            mark in head.text for mark in ("<resheader", "<data name=", "msdata")
        )

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings."""
        for found in elements(file, path, ("data",)):
            element, value = found.element, found.element.find("value")
            name = element.get("name", "")
            if value is None or name.startswith(">>") or "mimetype" in element.attrib:
                continue
            if element.get("type", "System.String").startswith("System.String"):
                yield Message(name, found.line, Text(SOURCE, "".join(value.itertext())))
