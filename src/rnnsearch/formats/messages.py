"""Files of messages in one language: Apple's strings, and Fluent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Part, message_slot
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import SOURCE, Head, Message, Text, ending


class AppleStrings:
    """`"key" = "text";` as on macOS and iOS."""

    name: ClassVar[str] = "Apple strings"
    places: ClassVar[str] = "line"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"
    _entry = re.compile(
        r'\s+|/\*.*?\*/|//[^\n]*|(?:"((?:[^"\\]|\\.)*)"|([\w.$/:-]+))\s*(?:/\*.*?\*/\s*)?=\s*"((?:[^"\\]|\\.)*)"\s*;',
        re.DOTALL,
    )
    _escape = re.compile(r"\\(?:U([0-9a-fA-F]{4})|(.))", re.DOTALL)
    _escaped = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})

    def recognises(self, head: Head) -> bool:
        """Whether an entry is in it and its name ends in `.strings`."""
        return ending(head) == ".strings"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the entries. Raises RnnsearchError, with the line, for anything else."""
        for line, match in self._entries(decoded(read_whole(file, path), path), path):
            key = match[1] if match[2] is None else match[2]
            yield Message(key, line, Text(SOURCE, self._escape.sub(self._unescape, match[3])))

    def _entries(self, text: str, path: Path) -> Iterator[tuple[int, re.Match[str]]]:
        place, line = 0, 1
        while place < len(text):
            match = self._entry.match(text, place)
            if match is None:
                raise RnnsearchError(f'{path}:{line}: not an entry of the form "key" = "text";')
            if match[3] is not None:
                yield line, match
            line += text.count("\n", place, match.end())
            place = match.end()

    def encoding(self, content: bytes) -> str:
        """UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the values of the entries."""
        for _, match in self._entries(text, path):
            yield message_slot(match.start(3), match[3], self._escape.sub(self._unescape, match[3]), self._written)

    @staticmethod
    def _written(text: str) -> str:
        return text.translate(AppleStrings._escaped)

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
        return ending(head) == ".ftl"

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
