"""JSON with messages under keys."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Kept, Part, message_slot, variants_slot
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import BETWEEN, CHOICE, SOURCE, Head, Message, Text, ending
from rnnsearch.untrusted import parse_json

_MESSAGES = frozenset({"message", "defaultMessage", "string"})
"""The keys of messages in objects that describe a message."""
_DESCRIPTIONS = frozenset(
    """
    character_limit comment context description developer_comment end file hash id key line meaning note notes placeholders
    start type
    """.split()  # noqa: SIM905
)
"""The keys of descriptions in such objects, as browser extensions, FormatJS and Transifex have them."""
_CHOICE = re.compile(r"\{\s*\w+\s*,\s*(plural|select|selectordinal|choice)\s*,")
"""A choice between variants in a message of ICU MessageFormat; of its kinds, the last two are no sentences."""
_SENTENCES = frozenset(["plural", "select"])


class JsonMessages:
    """JSON with strings under keys, nested or not, as MediaWiki, i18next, Flutter (ARB) and browser extensions have it."""

    name: ClassVar[str] = "JSON"
    places: ClassVar[str] = "message"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"
    _token = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]')

    def recognises(self, head: Head) -> bool:
        """Whether it is an object, by its beginning and its name."""
        return ending(head) in (".json", ".arb") and re.match(r'\s*\{\s*["}]', head.text) is not None

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the strings, except those under keys that begin with `@`, which describe other strings.

        Those with a choice between variants are left out, since the variants of two languages are no pairs.
        """
        content = self._parsed(decoded(read_whole(file, path), path), path)
        for number, (key, text) in enumerate(_strings(content, ""), 1):
            yield Message(key, number, Text(SOURCE, text), CHOICE if _CHOICE.search(text) else None)

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
        """Yield the strings that `messages` yields; those with a choice between ordinal numbers stay as they are."""
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
                    levels[-1].found.append((levels[-1].key, level.parts()))
                    levels[-1].key = None
                case ":":
                    pass
                case ",":  # ends a value that is no string, such as a number
                    level.key = None
                case string if level.bracket == "{" and level.key is None:
                    level.key = json.loads(string)
                    level.keys.add(level.key)
                case string:
                    level.found.append((level.key, [_part(token.start(), string, ascii_only)]))
                    level.key = None
        yield from levels[0].parts()


@dataclass
class _Level:
    """An object or a list that is being read."""

    bracket: str
    key: str | None = None
    """The key of the next value."""
    keys: set[str] = field(default_factory=set)
    """The keys of all values so far."""
    found: list[tuple[str | None, list[Part]]] = field(default_factory=list)

    def parts(self) -> list[Part]:
        """Return the parts in it, except those of descriptions of messages."""
        described = _described(self.keys)
        return [
            part
            for key, parts in self.found
            if key is None or (not key.startswith("@") and (not described or key in described))
            for part in parts
        ]


def _described(keys: Collection[str]) -> AbstractSet[str]:
    """Return the keys of the message in an object that describes one; none if the object has messages under any keys."""
    return _MESSAGES.intersection(keys) if (_MESSAGES | _DESCRIPTIONS).issuperset(keys) else frozenset()


def _part(start: int, string: str, ascii_only: bool) -> Part:
    text = json.loads(string)
    choices = set(_CHOICE.findall(text))
    if choices - _SENTENCES:
        return Kept(start, CHOICE)
    if choices:  # the variants are read from the whole message
        return variants_slot(start, string, text, lambda new: json.dumps(new, ensure_ascii=ascii_only))
    return message_slot(start, string, text, lambda new: json.dumps(new, ensure_ascii=ascii_only))


def _strings(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from _strings(element, f"{key}{BETWEEN}{number}")
    elif isinstance(value, dict):
        described = _described(value)
        for name, element in value.items():
            if not name.startswith("@") and (not described or name in described):
                yield from _strings(element, f"{key}{BETWEEN}{name}")
