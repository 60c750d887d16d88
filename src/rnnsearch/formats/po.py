"""PO files of GNU gettext."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from gettext import c2py
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.formats.languages import language_in_name
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import TRANSLATED, Change, Codes, Kept, Part, Slot
from rnnsearch.formats.text_files import decoded, encoding_of, read_whole
from rnnsearch.formats.units import SOURCE, TARGET, Head, Text, Unit
from rnnsearch.formats.xliff_segments import NO_TRANSLATION

_CHARSET = re.compile(
    rb'^(?:msgstr[ \t]*)?"(?:[^"\n]*\\n)?Content-Type:[^\n"]*?charset=([\w.:-]+)', re.MULTILINE | re.IGNORECASE
)
_TEMPLATE = re.compile(r"(?<=charset=)CHARSET\b")
_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,3})\])?)\s*("(?:[^"\\]|\\.)*")\s*')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"\s*')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WRITTEN = str.maketrans({"\\": "\\\\", '"': '\\"'} | {value: f"\\{code}" for code, value in _ESCAPES.items()})
_WIDTH = 77
"""The most characters of a line of a string, between its quotation marks, where the source is wrapped."""
_START = re.compile(r'(?:\ufeff)?\s*(?:#[^\n]*\n\s*)*(?:msgctxt|msgid|msgid_plural)\s*"')


@dataclass(slots=True)
class Entry:
    """An entry of a PO file: its strings, unescaped, and the lines where they are."""

    line: int
    """The line of its first keyword, from 1."""
    strings: dict[str, str] = field(default_factory=dict)
    """The strings by keyword: `msgctxt`, `msgid`, `msgid_plural`, `msgstr` or `msgstr[N]`."""
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each keyword, the first line of its string and the line after the last one, from 0."""
    flags: set[str] = field(default_factory=set)
    """Its flags, such as `fuzzy` and `c-format`."""
    flags_line: int | None = None
    """The last line with flags, from 0."""
    obsolete: bool = False

    @property
    def is_header(self) -> bool:
        """Whether it is the header of the file."""
        return self.strings.get("msgid") == "" and "msgctxt" not in self.strings


class Po:
    """Messages with their translations."""

    name: ClassVar[str] = "PO"
    places: ClassVar[str] = "line"
    assumed_source: ClassVar[str | None] = "en"
    unencodable: ClassVar[Literal["strict", "xmlcharrefreplace"]] = "strict"

    def recognises(self, head: Head) -> bool:
        """Whether it begins with comments and `msgid`."""
        return _START.match(head.text) is not None or (
            head.path.name.removesuffix(".gz").endswith((".po", ".pot")) and "\nmsgid" in head.text
        )

    def units(self, file: File, path: Path) -> Iterator[Unit]:
        """Yield the messages."""
        source, target, plural = SOURCE, language_in_name(path) or TARGET, _Plural()
        for entry in entries(text_of_po(read_whole(file, path), path).split("\n"), path):
            if entry.is_header and not entry.obsolete:
                header = _header(entry.strings.get("msgstr", ""))
                source = header.get("x-source-language") or source
                target = header.get("language") or target
                plural = _plural(header.get("plural-forms", ""))
                continue
            reason = "obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else None
            texts = [
                Text(language, string, form=form)
                for form, pair in enumerate(_forms(entry.strings, plural))
                for language, string in zip((source, target), pair, strict=True)
            ]
            if reason is None and not any(text.text.strip() for text in texts[1::2]):
                reason = NO_TRANSLATION
            yield Unit(entry.line, texts, reason)

    def encoding(self, content: bytes) -> str:
        """Return the encoding that the header states."""
        return encoding_of_po(content)

    def parts(self, text: str, path: Path, again: bool) -> Iterator[Part]:
        """Yield the translations that are empty, and the flag that marks them as fuzzy.

        With `again`, those of fuzzy and of finished messages are translated as well. Obsolete messages do not change.
        """
        lines = text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        plural = _Plural()
        for entry in entries(lines, path):
            if entry.is_header and not entry.obsolete:
                plural = _plural(_header(entry.strings.get("msgstr", "")).get("plural-forms", ""))
                if template := _TEMPLATE.search(
                    text, starts[entry.line - 1], starts[max(last for _, last in entry.lines.values())]
                ):
                    yield Change(template.start(), template.end(), "UTF-8")
                continue
            if entry.obsolete or ("fuzzy" in entry.flags and not again):
                yield Kept(starts[entry.line - 1], "obsolete" if entry.obsolete else "fuzzy")
                continue
            missing = [
                keyword
                for keyword, string in entry.strings.items()
                if keyword.startswith("msgstr") and (again or not string.strip())
            ]
            slots = [
                _slot(keyword, _original(keyword, entry, plural), entry, lines, starts)
                for keyword in missing
                if entry.strings.get(_original(keyword, entry, plural), "").strip()
            ]
            if not missing:
                yield Kept(starts[entry.line - 1], TRANSLATED)
            if slots and "fuzzy" not in entry.flags:
                yield _fuzzy(entry, lines, starts)
            yield from slots


def encoding_of_po(content: bytes) -> str:
    """Return the encoding that the header of a PO file states; UTF-8 if it states none or a byte order mark precedes it."""
    charset = _CHARSET.search(content)
    declared = charset[1].decode("ascii") if charset else "utf-8"
    if declared.upper() == "CHARSET":  # the placeholder of the template
        declared = "utf-8"
    if encoding_of(content, "") and charset:
        declared = "utf-8"
    return re.sub("(?i)^iso8859", "iso-8859", declared)


def text_of_po(content: bytes, path: Path) -> str:
    """Decode a PO file by the encoding that its header states."""
    return decoded(content, path, encoding_of_po(content)).removeprefix("\ufeff")


def entries(lines: list[str], path: Path) -> Iterator[Entry]:
    """Yield the entries. Raises RnnsearchError, with the line, for a text that is not PO."""
    entry, keyword = Entry(0), ""
    for number, line in enumerate(lines):
        stripped = line.strip()
        obsolete = stripped.startswith("#~")
        content = stripped.removeprefix("#~").lstrip() if obsolete else stripped
        if not content or content.startswith(("#", "|")):
            if _is_whole(entry):
                yield entry
                entry = Entry(0)
            keyword = ""
            if content.startswith("#,"):
                entry.flags |= {flag.strip() for flag in content[2:].split(",")}
                entry.flags_line = number
            continue
        if match := _KEYWORD.fullmatch(content):
            keyword = match[1]
            if keyword in entry.strings or (keyword in ("msgctxt", "msgid") and _is_whole(entry)):
                yield entry
                entry = Entry(0)
            entry.line = entry.line or number + 1
            entry.obsolete |= obsolete
            entry.strings[keyword], entry.lines[keyword] = unescaped(match[3]), (number, number + 1)
        elif keyword and _STRING.fullmatch(content):
            entry.strings[keyword] += unescaped(content)
            entry.lines[keyword] = entry.lines[keyword][0], number + 1
        else:
            raise RnnsearchError(
                f"{path}:{number + 1}: not PO: {shown(content)}; mend the line, or check the file by msgfmt -c"
            )
    if "msgid" in entry.strings:
        yield entry


def _is_whole(entry: Entry) -> bool:
    return "msgid" in entry.strings and any(keyword.startswith("msgstr") for keyword in entry.strings)


def unescaped(quoted: str) -> str:
    """Return the text of a string in quotation marks."""
    if "\\" not in quoted:
        return quoted.strip()[1:-1]
    return _ESCAPE.sub(_unescape, quoted.strip()[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPES.get(code, code)


class _Plural(NamedTuple):
    """The numbers of two plural forms of the translations in a file; every language has them, or they are the same."""

    one: int = 0
    """The form for one thing, which is the translation of `msgid`."""
    many: int | None = None
    """The form for a hundred things, which is that of `msgid_plural` in training; None for the last one that there is."""


def _plural(header: str) -> _Plural:
    """Return the plural forms by the expression of a header `Plural-Forms`; the first and the last if it states none."""
    expression = re.search(r"plural\s*=([^;]+)", header.partition("nplurals")[2])
    try:
        number = c2py(expression[1].strip() if expression else "")
        return _Plural(int(number(1)), int(number(100)))
    except (ValueError, ArithmeticError, RecursionError):
        return _Plural()


def _forms(strings: dict[str, str], plural: _Plural) -> list[tuple[str, str]]:
    """Return a message with its translation; of plural forms, the one for one thing, and the one for many."""
    original = strings.get("msgid", "")
    if "msgid_plural" not in strings:
        return [(original, strings.get("msgstr", ""))]
    forms = {int(key[7:-1]): form for key, form in strings.items() if key.startswith("msgstr[")} or {0: ""}
    many = plural.many if plural.many is not None and plural.many in forms else max(forms)
    general = strings["msgid_plural"], forms[many]
    return [general] if plural.one == many or plural.one not in forms else [(original, forms[plural.one]), general]


def _header(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.split("\n"))
    return {name.strip().lower(): value.strip() for name, _, value in lines if value.strip()}


# Written --------------------------------------------------------------------------------------------------------------


def _original(keyword: str, entry: Entry, plural: _Plural) -> str:
    """Return the keyword of the source string of a translation, `msgid` or `msgid_plural`."""
    if "msgid_plural" not in entry.strings:
        return "msgid"
    forms = sum(keyword.startswith("msgstr") for keyword in entry.strings)
    return "msgid" if keyword == f"msgstr[{plural.one}]" and forms > 1 else "msgid_plural"


def _slot(keyword: str, original: str, entry: Entry, lines: list[str], starts: list[int]) -> Slot:
    """Return the slot of a translation; a translation that equals its source is wrapped like the source."""
    source, (first, last) = entry.strings[original], entry.lines[keyword]
    above, below = entry.lines[original]
    end = lines[last - 1][len(lines[last - 1].rstrip("\r")) :]
    same = [line.rstrip("\r") for line in lines[above:below]]
    codes = Codes(source)

    def written(translation: str) -> str:
        text = codes.restored(translation)
        if text == source:
            return f"{end}\n".join([same[0].replace(original, keyword, 1), *same[1:]]) + end
        return f"{end}\n".join(_string(keyword, text, wrapped=len(same) > 1)) + end

    return Slot(starts[first], starts[last] - 1, codes.placeholders(source), written)


def _fuzzy(entry: Entry, lines: list[str], starts: list[int]) -> Change:
    """Return the insertion of the flag `fuzzy` into the flags line of a message, or of a new line above its strings."""
    if entry.flags_line is not None:
        place = starts[entry.flags_line] + lines[entry.flags_line].index("#,") + 2
        return Change(place, place, " fuzzy,")
    line = entry.line - 1
    while line and lines[line - 1].lstrip().startswith("#|"):
        line -= 1
    end = "\r\n" if lines[entry.line - 1].endswith("\r") else "\n"
    return Change(starts[line], starts[line], f"#, fuzzy{end}")


def _string(keyword: str, text: str, wrapped: bool) -> list[str]:
    """Return the lines of a string: several if it contains line ends, or if it is long and `wrapped` is true."""
    pieces = text.splitlines(keepends=True) if "\n" in text else [text]
    if wrapped:
        pieces = [line for piece in pieces for line in _wrapped(piece)]
    quoted = [f'"{piece.translate(_WRITTEN)}"' for piece in pieces]
    return [f"{keyword} {quoted[0]}"] if len(quoted) == 1 else [f'{keyword} ""', *quoted]


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in re.findall(r"[^ ]* *", text):
        if line and len((line + word.rstrip(" ")).translate(_WRITTEN)) > _WIDTH:
            yield line
            line = ""
        line += word
    yield line
