"""Markdown: its paragraphs, headings, items of lists and cells of tables are translated, and everything else stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from rnnsearch.formats.markdown_inline import coded
from rnnsearch.formats.parts import Codes, Part, Slot, in_place
from rnnsearch.formats.units import Head, ending

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n.*?^\1[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_CONTAINER = re.compile(r"[ \t]*+(?:>[ \t]?+|(?:[-+*]|\d{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+|\[\^[^\]]+\]:[ \t]*+)")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_RULE = re.compile(r"(?:=+|-+|(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_HEADING_END = re.compile(r"(?:[ \t]+#+)?[ \t]*(?:\{[#.:][^{}]*\})?[ \t]*\Z")
_DELIMITERS = re.compile(r"(?=[^|]*\|)[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL = re.compile(r"(?:[^|\\`]|\\.|`[^`|]*`|`)+")
_DEFINITION = re.compile(r"\[(?!\^)([^\]]+)\]:[ \t]*\S")
_DIRECTIVE = re.compile(r"(?:!!!|\?\?\?\+?|:::|\{%)(?:[ \t]|\w|$)|\[!\w+\][-+]?(?:[ \t]|$)")
_HTML_BLOCK = re.compile(
    r"<(?P<ends>!--|pre\b|script\b|style\b|textarea\b)|</?(?:address|article|aside|blockquote|body|center|dd|details|dialog|"
    r"div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|html|iframe|li|link|main|menu|meta|nav|ol|option|p|"
    r"picture|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)\b|</?[A-Za-z][^<>]*>[ \t]*$",
    re.IGNORECASE,
)
_STARTS_BLOCK = re.compile(r"[-+*>#=~|:<`]|\d+[.)]")
"""The beginnings of lines that would start a new block in the middle of a paragraph."""


class _Line(NamedTuple):
    start: int
    raw: str
    end: str
    """Its line end."""
    lead: str
    """The indentation and the marks of quotations and lists before its text."""

    @property
    def text(self) -> str:
        return self.raw[len(self.lead) :]


class Markdown:
    """Markdown as CommonMark and GitHub have it, with front matter, footnotes and formulas."""

    name: ClassVar[str] = "Markdown"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"

    def recognises(self, head: Head) -> bool:
        """Whether its name ends in `.md` or `.markdown`."""
        return ending(head) in (".md", ".markdown")

    def encoding(self, content: bytes) -> str:
        """Return UTF-8."""
        return "utf-8"

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the texts of all blocks except code."""
        front = _FRONT_MATTER.match(text)
        lines = list(_lines(text, front.end() if front else 0))
        defined = frozenset(match[1].casefold() for line in lines if (match := _DEFINITION.match(line.text)))
        yield from _Blocks(text, lines, defined).parts()


def _lines(text: str, start: int) -> Iterator[_Line]:
    for match in _LINE.finditer(text, start):
        if not match[0]:
            return
        raw, place = match[1], 0
        while container := _CONTAINER.match(raw, place):
            if _RULE.fullmatch(raw, place):
                break
            place = container.end()
        place += len(raw[place:]) - len(raw[place:].lstrip())
        yield _Line(match.start(), raw, match[2], raw[:place])


@dataclass
class _Blocks:
    """A parser of the lines of a document; `number` is the next line to read."""

    document: str
    lines: list[_Line]
    defined: frozenset[str]
    """The names of links that are defined somewhere in the document."""
    number: int = 0
    in_list: bool = False

    def parts(self) -> Iterator[Part]:
        blank = True
        while self.number < len(self.lines):
            line = self.lines[self.number]
            was_blank, blank = blank, not line.text
            if blank:
                self.number += 1
            elif was_blank and self._is_code(line):
                self.number += 1
                blank = True
            elif fence := _FENCE.match(line.text):
                self._skip_fence(fence[1] or fence[2])
            elif _RULE.fullmatch(line.text) or _DEFINITION.match(line.text) or _DIRECTIVE.match(line.text):
                self.in_list |= _DIRECTIVE.match(line.text) is not None  # indented lines below a directive are no code
                self.number += 1
            elif html_block := _HTML_BLOCK.match(line.text):
                yield from self._html(html_block["ends"])
            elif "|" in line.text and self._follows(_DELIMITERS):
                yield from self._table()
            elif heading := _HEADING.match(line.text):
                end = _HEADING_END.search(line.text, heading.end())
                assert end is not None
                yield from self._texts(
                    [(line.start + len(line.lead) + heading.end(), line.text[heading.end() : end.start()])]
                )
                self.number += 1
            else:
                yield from self._paragraph()

    def _is_code(self, line: _Line) -> bool:
        """Whether a line is indented code; within lists, such lines are paragraphs of items."""
        indented = re.match(r"(?: {4}| {0,3}\t)", line.raw) is not None
        if not indented:
            self.in_list = re.match(r"[-+*]|\d+[.)]", line.raw.lstrip()) is not None
        return indented and not self.in_list

    def _follows(self, pattern: re.Pattern[str]) -> bool:
        following = self.lines[self.number + 1 : self.number + 2]
        return any(pattern.fullmatch(line.text) for line in following)

    def _skip_fence(self, mark: str) -> None:
        self.number += 1
        while self.number < len(self.lines):
            text = self.lines[self.number].text.strip()
            self.number += 1
            if len(text) >= len(mark) and text == mark[0] * len(text):
                return

    def _html(self, ends: str | None) -> Iterator[Part]:
        """Yield the slot of a block of HTML, and pass over comments and code."""
        first = self.number
        if ends is not None:
            end = "-->" if ends == "!--" else f"</{ends.lower()}>"
            while self.number < len(self.lines) and end not in self.lines[self.number].text.lower():
                self.number += 1
            self.number += 1
            return
        while self.number < len(self.lines) and self.lines[self.number].text:
            self.number += 1
        block = self.lines[first : self.number]
        raw = "".join(line.raw + line.end for line in block)
        yield Slot(block[0].start, block[0].start + len(raw), raw, str, "html")

    def _table(self) -> Iterator[Part]:
        first = self.number
        while self.number < len(self.lines) and "|" in self.lines[self.number].text:
            line = self.lines[self.number]
            if self.number != first + 1:
                start = line.start + len(line.lead)
                cells = ((start + cell.start(), cell[0]) for cell in _CELL.finditer(line.text))
                for place, cell in cells:
                    margin = len(cell) - len(cell.lstrip())
                    yield from self._texts([(place + margin, cell.strip())], cell=True)
            self.number += 1

    def _paragraph(self) -> Iterator[Part]:
        """Yield the slots of the lines up to a blank line or the next block; a hard line break separates two slots."""
        block = [self.lines[self.number]]
        self.number += 1
        while self.number < len(self.lines):
            line = self.lines[self.number]
            if not line.text or self._interrupts(line):
                break
            block.append(line)
            self.number += 1
        continued = block[1].lead if len(block) > 1 else ""
        group: list[tuple[int, str]] = []
        for line in block:
            text = line.text.rstrip()
            hard = line.text.endswith("  ") or text.endswith("\\")
            group.append((line.start + len(line.lead), text.removesuffix("\\") if hard else text))
            if hard:
                yield from self._texts(group, line.end + continued)
                group = []
        if group:
            yield from self._texts(group, block[0].end + continued)

    def _interrupts(self, line: _Line) -> bool:
        """Whether a line ends a paragraph: it is another item or block."""
        marked = re.search(r"[-+*.)]|\]:", line.lead) is not None
        text = line.text
        return marked or bool(_FENCE.match(text) or _HEADING.match(text) or _RULE.fullmatch(text) or _HTML_BLOCK.match(text))

    def _texts(self, lines: list[tuple[int, str]], between: str = "", cell: bool = False) -> Iterator[Part]:
        """Yield the slot of a text on these lines, each with its position; `between` joins the lines of the translation."""
        start, (last, end) = lines[0][0], lines[-1]
        text = " ".join(text for _, text in lines)
        if not any(map(str.isalpha, text)):
            return
        codes = Codes(text)
        width = max(len(text) for _, text in lines)

        def written(new: str) -> str:
            restored = codes.restored(new)
            if cell:
                restored = re.sub(r"(?<!\\)\|", r"\\|", restored)
            return between.join(_wrapped(restored, width)) if len(lines) > 1 else restored

        raw = self.document[start : last + len(end)]
        yield in_place(start, raw, coded(text, codes, self.defined), written)


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text at `width` characters, so that no further line begins like a new block."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= width or _STARTS_BLOCK.match(word)):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
