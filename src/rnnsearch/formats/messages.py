"""Files of messages in one language: Apple's strings, and Fluent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Codes, Kept, Part, in_place, message_slot
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import CHOICE, SOURCE, Head, Message, Text, ending


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
        """Return UTF-8."""
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


@dataclass(frozen=True)
class _Pattern:
    """The text of a message or an attribute of Fluent as it is written."""

    key: str
    line: int
    start: int
    """The place of its first character."""
    raw: str
    """Its lines, without white space at the ends."""
    alone: bool
    """Whether it begins on a line of its own."""

    @property
    def text(self) -> str:
        """The text on one line."""
        return " ".join(part.strip() for part in self.raw.splitlines())


class Fluent:
    """Messages, terms and attributes of Project Fluent."""

    name: ClassVar[str] = "Fluent"
    places: ClassVar[str] = "line"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"
    _entry = re.compile(r"(-?[A-Za-z][\w-]*) *= *(.*)")
    _attribute = re.compile(r" +\.([A-Za-z][\w-]*) *= *(.*)")
    _placeable = re.compile(r"\{\s*([^{}\s\"]+)\s*\}")
    _code = re.compile(r"<[^<>]*>|(\{[^{}]*\})")
    _choice = re.compile(r"\{[^{}\n]*->[ \t]*\n(?:[ \t]*\*?\[[^\[\]\n]*\][^\n]*\n)+[ \t]*\}")
    _variant = re.compile(r"^[ \t]*\*?\[[^\[\]\n]*\][ \t]*([^\n]*?)[ \t]*$", re.MULTILINE)

    def recognises(self, head: Head) -> bool:
        """Whether its name ends in `.ftl`."""
        return ending(head) == ".ftl"

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the values; one with a choice between variants is left out."""
        for one in self._patterns(decoded(read_whole(file, path), path)):
            reason = CHOICE if "->" in one.raw else None
            yield Message(one.key, one.line, Text(SOURCE, self._placeable.sub(r"{\1}", one.text)), reason)

    def encoding(self, content: bytes) -> str:
        """Return UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the values, except terms, which are names, and each variant of a value that is a choice and nothing else."""
        for one in self._patterns(text):
            if one.key.startswith("-"):
                continue
            if "->" not in one.raw:
                yield self._slot(one)
            else:
                yield from map(self._slot, variants) if (variants := self._variants(one)) else [Kept(one.start, CHOICE)]

    def _variants(self, pattern: _Pattern) -> list[_Pattern]:
        """Return the variants of a choice if each of them is on one line, and there is no text around the choice."""
        if pattern.raw.count("->") > 1 or not self._choice.fullmatch(pattern.raw):
            return []
        found = list(self._variant.finditer(pattern.raw))
        return [
            _Pattern(pattern.key, pattern.line, pattern.start + variant.start(1), variant[1], alone=False)
            for variant in found
            if all(each[1] for each in found)
        ]

    def _slot(self, pattern: _Pattern) -> Part:
        codes, text = Codes(pattern.raw), pattern.text
        own = set(re.findall(r"\{[^{}]*\}", text))
        kept = self._code.sub(lambda match: codes.kept(match[1], match[1]) if match[1] else match[0], text)
        odd = re.compile(r"\{[^{}]*\}|[{}]|\A[\[*.]" if pattern.alone else r"\{[^{}]*\}|[{}]")

        def escaped(match: re.Match[str]) -> str:
            return match[0] if match[0] in own else re.sub(r"[\[*.{}]", r'{"\g<0>"}', match[0])

        return in_place(pattern.start, pattern.raw, kept, lambda new: odd.sub(escaped, codes.restored(new)))

    def _patterns(self, text: str) -> Iterator[_Pattern]:
        owner, key, first, start, stop = "", "", 0, 0, 0
        place = 0
        for number, line in enumerate([*text.splitlines(keepends=True), "#"], 1):
            entry, attribute = self._entry.match(line), self._attribute.match(line)
            if key and (entry or attribute or not (line.startswith((" ", "}")) or not line.strip())):
                raw = text[start:stop]
                before = len(raw) - len(raw.lstrip())
                if raw.strip():
                    yield _Pattern(key, first, start + before, raw.strip(), "\n" in raw[:before])
                key = ""
            value = entry or attribute
            if value:
                owner = entry[1] if entry else owner
                key, first = (owner if entry else f"{owner}.{value[1]}"), number
                start, stop = place + value.start(2), place + len(line)
            elif key and line.strip():
                stop = place + len(line)
            place += len(line)
