"""A reader of untrusted XML of any size, which yields the elements with some names one by one, in bounded memory.

Expat loads nothing from elsewhere. Declarations of entities are refused, whether they are internal or external: no format
needs them, and they are the means of attacks. So are tokens, units and nestings of a size that no file has.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.formats.opening import SAMPLE, File
from rnnsearch.formats.units import Head

MOST_BYTES = 1 << 20
"""The largest number of bytes of a unit, and of a single tag, comment or other token."""
MOST_DEPTH = 100
"""The largest depth of nested elements."""
_CHUNK = 1 << 16
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_NOT_ELEMENTS = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL)
_INVALID_TOKEN = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]
_DECLARED = re.compile(rb"""^<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)""")


@dataclass(frozen=True, slots=True)
class LocatedElement:
    """An element with its content and its position."""

    element: Element
    """The element; names of elements have no prefixes, names of attributes have."""
    line: int
    above: tuple[Element, ...]
    """The elements around it, the root first, with their attributes only."""

    def inherited(self, attribute: str) -> str | None:
        """Return the value of an attribute of the element or, if it has none, of the nearest ancestor that has it."""
        for one in (self.element, *reversed(self.above)):
            if attribute in one.attrib:
                return one.attrib[attribute]
        return None


def root_of(head: Head) -> str | None:
    """Return the name of the root element of a file, without its prefix; None if the file is not XML."""
    encoding = _encoding(head.start)
    text = head.start.decode(encoding, "replace") if encoding.startswith("utf-16") else head.text
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return None
    root = _ROOT.search(_NOT_ELEMENTS.sub("", text))
    return root[1] if root else None


def elements(file: File, path: Path, names: Collection[str]) -> Iterator[LocatedElement]:
    """Yield the elements with these names that are not inside another such element, in order.

    Raises RnnsearchError, with the line, for XML that is not well-formed or is hostile.
    """
    first = file.read(_CHUNK)
    reader = Reader(path, names, _encoding(first))
    fed = 0
    chunk = first
    while chunk:
        reader.feed(chunk)
        fed += len(chunk)
        if fed - reader.parser.CurrentByteIndex > MOST_BYTES:
            raise reader.refusal(f"a tag or comment of more than {MOST_BYTES:,} bytes")
        yield from reader.found
        reader.found.clear()
        chunk = file.read(_CHUNK)
    reader.feed(b"", last=True)
    yield from reader.found


def encoding_of_xml(content: bytes) -> str:
    """Return the encoding of an XML file: that of its first bytes, or the declared one, or UTF-8."""
    declared = _DECLARED.match(content)
    return _encoding(content[:SAMPLE]) or (declared[1].decode("ascii") if declared else "utf-8")


def _encoding(start: bytes) -> str:
    """Return the encoding that the first bytes of a file prove; an empty string if its declaration counts."""
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if start.startswith((b"<\0", b"\0<")):
        return "utf-16le" if start.startswith(b"<") else "utf-16be"
    declared = _DECLARED.match(start)
    if declared and declared[1].lower().startswith((b"utf-16", b"utf16", b"ucs-2", b"unicode", b"utf8", b"utf_8")):
        return "utf-8"  # the file was converted without a change of its declaration, or UTF-8 is misspelt
    return ""


class Reader:
    """A parser that collects complete elements with some names."""

    def __init__(self, path: Path, names: Collection[str], encoding: str) -> None:
        self.found: list[LocatedElement] = []
        self._path, self._names = path, names
        self._above: list[Element] = []
        self._open: list[Element] = []
        self._line = self._start = self._fed = 0
        parser = self.parser = expat.ParserCreate(encoding or None)
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.SkippedEntityHandler = self._skipped
        parser.EntityDeclHandler = self._declared
        if parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER) is None:
            raise RnnsearchError(f"{path}: Python's XML parser cannot be kept from loading other files; install another")

    def feed(self, chunk: bytes, last: bool = False) -> None:
        """Parse the next bytes."""
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            at = self.parser.ErrorByteIndex - self._fed  # negative in a token that began in an earlier chunk
            byte = chunk[at : at + 1] if error.code == _INVALID_TOKEN and at >= 0 else b""
            raise RnnsearchError(f"{self._path}:{error.lineno}: {self._reason(error, byte)}") from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not have, or has no table of
            raise RnnsearchError(
                f"{self._path}: XML in an encoding that cannot be read ({error}); convert it to UTF-8"
            ) from None
        self._fed += len(chunk)

    def _reason(self, error: expat.ExpatError, byte: bytes) -> str:
        """Return why a file is not well-formed, and what to do; `byte` is the one that no token may have."""
        if byte >= b"\x80":
            told = f"not valid UTF-8 (byte 0x{byte.hex()}), though it has no other declared encoding"
            return f"{told}; convert it, e.g. iconv -f windows-1252 -t utf-8 {self._path.name}"
        if b"" < byte < b" ":
            return f"the control character 0x{byte.hex()}, which XML does not allow; delete it, or export the file again"
        reason = expat.ErrorString(error.code).removeprefix("not well-formed (").removesuffix(")")
        return f"not well-formed XML ({reason}); mend or export it again"

    def refusal(self, what: str) -> RnnsearchError:
        """Return the error for a construct that only hostile files have."""
        line = self.parser.CurrentLineNumber
        return RnnsearchError(f"{self._path}:{line}: XML with {what}, which is not read; is the file what it should be?")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        element = self._element(name, attributes)
        if len(self._above) + len(self._open) >= MOST_DEPTH:
            raise self.refusal(f"more than {MOST_DEPTH} elements in one another")
        if self._open:
            self._check_size()
            self._open[-1].append(element)
            self._open.append(element)
        elif element.tag in self._names:
            self._line, self._start = self.parser.CurrentLineNumber, self.parser.CurrentByteIndex
            self._open.append(element)
        else:
            self._above.append(element)

    def _end(self, name: str) -> None:
        if not self._open:
            self._above.pop()
            return
        element = self._open.pop()
        self._closed(element)
        if not self._open:
            self.found.append(LocatedElement(element, self._line, tuple(self._above)))

    def _element(self, name: str, attributes: dict[str, str]) -> Element:
        return Element(name.rpartition(":")[2], attributes)

    def _closed(self, element: Element) -> None:
        """Process the end of an element; a subclass may record its position."""

    def _text(self, text: str) -> None:
        if not self._open:
            return
        self._check_size()
        element = self._open[-1]
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text

    def _check_size(self) -> None:
        if self.parser.CurrentByteIndex - self._start > MOST_BYTES:
            raise self.refusal(f"a unit of more than {MOST_BYTES:,} bytes")

    def _skipped(self, name: str, is_parameter: bool) -> None:
        """Read an entity of HTML, such as `nbsp`, that an external DTD would declare."""
        character = html.unescape(f"&{name};")
        if is_parameter or character == f"&{name};":
            raise self.refusal(f"an entity that is declared elsewhere ({shown(name)})")
        self._text(character)

    def _declared(self, *declaration: Any) -> None:
        raise self.refusal(f"a declaration of an entity ({shown(declaration[0])})")
