"""JSON with messages under keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Part, Slot, message_slot
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import BETWEEN, SOURCE, Head, Message, Text, ending
from rnnsearch.untrusted import parse_json

_DESCRIBED = frozenset({"message", "defaultMessage", "string"})
"""The keys of messages: in an object with one of them, all other entries are descriptions of the message."""


class JsonMessages:
    """JSON with strings under keys, nested or not, as MediaWiki, i18next, Flutter (ARB) and browser extensions have it."""

    name: ClassVar[str] = "JSON"
    places: ClassVar[str] = "message"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"
    _token = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]')
    _choice = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,")
    """A choice between variants in a message of ICU MessageFormat; such messages are not translated."""

    def recognises(self, head: Head) -> bool:
        """Whether it is an object, by its beginning and its name."""
        return ending(head) in (".json", ".arb") and re.match(r'\s*\{\s*["}]', head.text) is not None

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings, except those under keys that begin with `@`, which describe other strings."""
        content = self._parsed(decoded(read_whole(file, path), path), path)
        for number, (key, text) in enumerate(_strings(content, ""), 1):
            yield Message(key, number, Text(SOURCE, text))

    @staticmethod
    def _parsed(text: str, path: Path) -> Any:
        try:
            return parse_json(text)
        except ValueError as error:
            raise RnnsearchError(f"{path}: not JSON ({error}); mend it, or write it again") from None

    def encoding(self, content: bytes) -> str:
        """Return UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the strings that `messages` yields, except those with a choice between several forms."""
        self._parsed(text, path)
        ascii_only = text.isascii() and "\\u" in text
        levels: list[_Level] = [_Level("")]
        for token in self._token.finditer(text):
            level = levels[-1]
            match token[0]:
                case "{" | "[":
                    levels.append(_Level(token[0]))
                case "}" | "]":
                    levels.pop()
                    levels[-1].found.append((levels[-1].key, level.slots()))
                    levels[-1].key = None
                case ":":
                    pass
                case ",":  # ends a value that is no string, such as a number
                    level.key = None
                case string if level.bracket == "{" and level.key is None:
                    level.key = json.loads(string)
                case string:
                    slots = [] if self._choice.search(string) else [_slot(token.start(), string, ascii_only)]
                    level.found.append((level.key, slots))
                    level.key = None
        yield from levels[0].slots()


@dataclass
class _Level:
    """An object or a list that is being read."""

    bracket: str
    key: str | None = None
    """The key of the next value."""
    found: list[tuple[str | None, list[Slot]]] = field(default_factory=list)

    def slots(self) -> list[Slot]:
        """Return the slots in it, except those of descriptions of messages."""
        described = {key for key, _ in self.found} & _DESCRIBED
        return [
            slot
            for key, slots in self.found
            if key is None or (not key.startswith("@") and (not described or key in described))
            for slot in slots
        ]


def _slot(start: int, string: str, ascii_only: bool) -> Slot:
    return message_slot(start, string, json.loads(string), lambda new: json.dumps(new, ensure_ascii=ascii_only))


def _strings(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from _strings(element, f"{key}{BETWEEN}{number}")
    elif isinstance(value, dict):
        described = value.keys() & _DESCRIBED
        for name, element in value.items():
            if not name.startswith("@") and (not described or name in described):
                yield from _strings(element, f"{key}{BETWEEN}{name}")
