"""Subtitles: SubRip (`.srt`) and WebVTT (`.vtt`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import ClassVar, Literal

from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import Codes, Part, in_place
from rnnsearch.formats.text_files import decoded, read_whole
from rnnsearch.formats.units import BETWEEN, SOURCE, Head, Message, Text

LONGEST_LINE = 42
"""The most characters of a line of a subtitle, as is usual on television and for streaming."""


class Subtitles:
    """Cues of SubRip (`.srt`) and WebVTT (`.vtt`), whose keys are their times."""

    name: ClassVar[str] = "subtitles"
    places: ClassVar[str] = "line"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"
    _time = r"(?:\d{1,4}:)?\d{1,4}:\d{1,4}(?:[.,]\d{1,9})?"
    _times = re.compile(rf"\s*({_time})\s*-->\s*({_time})(?:[ \t].*)?\s*")
    _start = re.compile(rf"\ufeff?(?:WEBVTT(?=\s|\Z)|\s*(?:\d+\s+)?{_time}\s*-->\s*\d)")
    _tag = re.compile(r"</?[A-Za-z][^<>\n]*>|<[\d:.]+>|\{\\[^{}\n]*\}")
    _ends = re.compile(r"\r*\n|\r")
    _code = re.compile(r"<[\d:.]+>|\{\\[^{}\n]*\}")
    _speaker = re.compile(r"\s*(?:<[^<>]*>)*[-–—]")

    def recognises(self, head: Head) -> bool:
        """Whether it begins with `WEBVTT`, or with times, before which there may be a number."""
        return self._start.match(head.text) is not None

    def messages(self, file: File, path: Path) -> Iterator[Message]:
        """Yield the cues that have text."""
        lines = self._ends.split(decoded(read_whole(file, path), path))
        for times, first, last in self._cues(lines):
            if text := "\n".join(lines[first:last]).strip():
                key = f"{_milliseconds(times[1])}{BETWEEN}{_milliseconds(times[2])}"
                yield Message(key, first, self._text(text))

    def _cues(self, lines: list[str]) -> Iterator[tuple[re.Match[str], int, int]]:
        """Yield the times of each cue, its first line, and the line after its last one."""
        number = 0
        while number < len(lines):
            times = self._times.fullmatch(lines[number])
            number += 1
            if times is None:
                continue
            first = number
            while number < len(lines) and lines[number].strip() and not self._times.fullmatch(lines[number]):
                number += 1
            last = number
            if number < len(lines) and lines[number].strip() and lines[last - 1].strip().isdecimal():
                last = max(first, last - 1)  # the number of the next cue, without a blank line before it
            yield times, first, last

    def encoding(self, content: bytes) -> str:
        """Return UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the texts of the cues; a line that begins with a dash is a text of another speaker."""
        markup: Literal["xml", "plain"] = "xml" if text.startswith("WEBVTT") else "plain"
        lines, starts, ends = [], [0], []
        for match in self._ends.finditer(text):
            lines.append(text[starts[-1] : match.start()])
            ends.append(match[0])
            starts.append(match.end())
        lines.append(text[starts[-1] :])
        for _, first, last in self._cues(lines):
            raw = text[starts[first] : starts[last - 1] + len(lines[last - 1])] if first < last else ""
            if raw.strip():
                yield self._slot(starts[first], raw, lines[first:last], ends[first - 1], markup)

    def _slot(self, start: int, raw: str, lines: list[str], end: str, markup: Literal["xml", "plain"]) -> Part:
        codes = Codes(raw)
        said = [lines[0].strip()]
        for line in lines[1:]:
            if self._speaker.match(line):
                said.append(line.strip())
            else:
                said[-1] += f" {line.strip()}"
        text = self._code.sub(lambda match: codes.alone(match[0]), "\n".join(said))

        def written(translation: str) -> str:
            wrapped = (line for one in codes.restored(translation).split("\n") for line in _wrapped(one.strip()))
            return end.join(line for line in wrapped if line)  # a blank line would end the cue

        return in_place(start, raw, text, written, markup)

    def _text(self, text: str) -> Text:
        """Return the text of a cue, with numbered tags."""
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

        numbered = self._tag.sub(placeholder, text)
        return Text(SOURCE, numbered, tagged=numbered != text)


def _milliseconds(time: str) -> int:
    """Return the milliseconds of `01:02:03,004` or `02:03.004`."""
    *hours_minutes, seconds = time.replace(",", ".").split(":")
    total = 0
    for part in hours_minutes:
        total = 60 * total + int(part)
    return round(1000 * (60 * total + float(seconds)))


def _wrapped(text: str) -> list[str]:
    """Wrap a text into as few lines as possible, of lengths as even as possible."""
    words = re.findall(r"(?:<[^<>]*>|[^ \t<]|<)+", text)  # a no-break space is no place for a line end
    count = ceil(_width(" ".join(words)) / LONGEST_LINE)
    for width in range(ceil(_width(text) / max(1, count)), LONGEST_LINE + 1):
        lines = _filled(words, width)
        if len(lines) <= count:
            return lines
    return _filled(words, LONGEST_LINE)


def _filled(words: list[str], width: int) -> list[str]:
    lines: list[str] = []
    room = 0
    for word in words:
        needed = _width(word)
        if lines and needed < room:
            lines[-1] += f" {word}"
            room -= needed + 1
        else:
            lines.append(word)
            room = width - needed
    return lines


def _width(text: str) -> int:
    """Return the number of visible characters."""
    return len(re.sub(r"<[^<>]*>|\{\\[^{}]*\}", "", text))
