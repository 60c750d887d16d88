"""Messages of ICU MessageFormat with variants: `You have {count, plural, one {# message} other {# messages}}.`

A translator needs whole sentences, and so does another grammar: the message is read as one sentence for each variant, *You
have 1 message.* and *You have 37 messages.*, and written with whole sentences in its variants, with `#` for the number. The
names of the variants stay, so that they are those that the source language has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from rnnsearch.translation.marks import VARIANTS
from rnnsearch.translation.translation import Translation

_SELECTOR = re.compile(r"\s*(=\d+|\w+)\s*\{")
_NUMBERS = {"zero": "0", "one": "1", "two": "2"}
"""The numbers that are read in place of `#` in variants with these names, and with names such as `=1`."""
_MANY = "37", "42", "58", "64"
"""Those in all other variants, of which the first is taken that the message does not contain."""
_PRIVATE = 0xE000
"""The first character of the private use area; these stand for the signs of numbers until a variant is written."""
_MOST = 40
"""A message with more variants than this is not read, and neither is one with more choices."""


class Sentences(Protocol):
    """The text of a variant as sentences."""

    @property
    def sentences(self) -> list[str]:
        """The sentences of the text."""

    def joined(self, translations: Sequence[Translation]) -> str:
        """Return the text with its sentences replaced by these translations."""


class _Choice(NamedTuple):
    """An argument with variants, and the text around it."""

    before: str
    head: str
    """Its beginning, such as `{count, plural, `."""
    name: str
    counts: bool
    """Whether `#` stands for the number."""
    variants: list[tuple[str, str]]
    """The name and the text of each variant."""
    after: str


class Variants:
    """A message with variants, and the sentences of all of them."""

    def __init__(self, message: str, read: Callable[[str], Sentences]) -> None:
        """`read` returns the sentences of a variant. A message that is not well-formed has no sentences."""
        self._message = message
        self._texts: list[Sentences] = []
        self._doubled = "''" in message
        try:
            if sum(1 for _ in VARIANTS.finditer(message)) > _MOST:
                raise ValueError("too many choices")
            self._join = self._expanded(message.replace("''", "'"), (), read)
        except ValueError:
            self._texts = []

    @property
    def sentences(self) -> list[str]:
        """The sentences of all variants."""
        return [sentence for text in self._texts for sentence in text.sentences]

    def joined(self, translations: Sequence[Translation]) -> str:
        """Return the message with the sentences of its variants replaced by these translations."""
        if not self._texts:
            return self._message
        rest = iter(translations)
        return self._join(iter([text.joined(list(islice(rest, len(text.sentences)))) for text in self._texts]))

    def _expanded(
        self, message: str, counted: Sequence[tuple[str, str]], read: Callable[[str], Sentences]
    ) -> Callable[[Iterator[str]], str]:
        """Read the variants of a message; return a function that writes it with the translations of all of them.

        `counted` are the names of arguments and the numbers that are read for them; `#` is that of the last one. Raises
        ValueError if the message is not well-formed.
        """
        choice = _choice(message)
        if choice is None:
            if len(self._texts) == _MOST:
                raise ValueError("too many variants")
            self._texts.append(read(message))
            return lambda translated: self._written(next(translated), counted)
        variants = []
        for name, text in choice.variants:
            of_variant = counted
            if choice.counts:
                number = _number(name, message)
                text = _with_number(text, number)
                of_variant = [*counted, (choice.name, number)]
            variants.append((name, self._expanded(choice.before + text + choice.after, of_variant, read)))

        def join(translated: Iterator[str]) -> str:
            return choice.head + " ".join(f"{name} {{{of(translated)}}}" for name, of in variants) + "}"

        return join

    def _written(self, translated: str, counted: Sequence[tuple[str, str]]) -> str:
        """Return the translation of a variant as a part of the message."""
        signs: dict[int, str] = {}
        for name, number in counted:
            sign = _PRIVATE + len(signs)
            signs[sign] = "#" if (name, number) == counted[-1] else f"{{{name}, number}}"
            translated = re.sub(rf"(?<!\d){number}(?!\d)", chr(sign), translated, count=1)
        # An apostrophe before a brace or `#` would begin a quotation.
        quoting = "'" if self._doubled else f"'(?=[{{}}#{''.join(map(chr, signs))}])"
        return re.sub(quoting, "''", translated).translate(signs)


def _choice(message: str) -> _Choice | None:
    """Return the first argument of a message that has variants. Raises ValueError if the message is not well-formed."""
    found = VARIANTS.search(message)
    if not found:
        return None
    if re.search(r"'[{}#|]", message):
        raise ValueError("quoted signs")
    variants, place = [], found.end()
    while selector := _SELECTOR.match(message, place):
        place = _end(message, selector.end())
        variants.append((selector[1], message[selector.end() : place - 1]))
    closing = re.compile(r"\s*\}").match(message, place)
    if not closing or not variants:
        raise ValueError("no variants")
    before, after = message[: found.start()], message[closing.end() :]
    return _Choice(before, found[0], found["name"], found["kind"] == "plural", variants, after)


def _end(message: str, start: int) -> int:
    """Return the place after the brace that closes the one before `start`. Raises ValueError if there is none."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(message, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    raise ValueError("a brace is not closed")


def _number(name: str, message: str) -> str:
    """Return the number that is read in a variant with this name."""
    if name.startswith("="):
        return name[1:]
    return _NUMBERS.get(name) or next((number for number in _MANY if number not in message), _MANY[0])


def _with_number(text: str, number: str) -> str:
    """Return a variant with the number in place of each `#` that stands for it."""
    depth, parts = 0, []
    for part in re.split(r"([{}#])", text):
        depth += (part == "{") - (part == "}")
        parts.append(number if part == "#" and not depth else part)
    return "".join(parts)
