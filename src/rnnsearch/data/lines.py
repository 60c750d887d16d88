"""Lines of text, decoded and checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.no_text import check_text
from rnnsearch.formats.opening import COMMANDS, DAMAGED, SAMPLE, File, damaged, open_file, opened, unreadable

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 20
"""The number of bytes of a file that are read at once; of a pipe, fewer may have arrived."""
LONGEST_LINE = 1 << 24
"""The largest number of bytes of a line. It limits the memory for files without line ends, which are not text."""


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input for `-`, without their ends.

    A line ends only at a line feed (U+2028 and similar characters are text), so that all tools agree which line is line n; a
    carriage return before the line feed is dropped. In a file without any line feed, lines end at carriage returns. Files
    that are compressed (gzip, xz, bzip2, Zstandard) are decompressed. Raises RnnsearchError, with file and line, for a file
    that cannot be read, is damaged or is not UTF-8.
    """
    for line in _lines(path):
        yield line.removesuffix("\n").removesuffix("\r")


def read_arriving_lines(path: Path | str) -> Iterator[list[str]]:
    """Yield lists of lines, each with all lines of a file or a pipe that have arrived by then.

    Lines are decoded and checked as in `read_lines`, except that only a line feed ends a line.
    """
    path = Path(path)
    with opened(path) as file:
        check_text(file.peek(SAMPLE)[:SAMPLE], path)
        number, rest = 0, b""
        while chunk := file.read1(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
            if lines:
                yield [_arrived(line, path, number + k) for k, line in enumerate(lines, start=1)]
                number += len(lines)
            _check_length(rest, path, number + 1)
        if rest:
            yield [_arrived(rest, path, number + 1)]


def _arrived(raw: bytes, path: Path, number: int) -> str:
    _check_length(raw, path, number)
    return _decode(raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw, path, number).removesuffix("\r")


def read_text(path: Path | str) -> str:
    """Return the whole text of a file that `read_lines` can read, including its line ends."""
    return "".join(_lines(path))


def lines_of(file: File, path: Path) -> Iterator[str]:
    """Yield the lines of an open file without their ends, as `read_lines` does."""
    for line in _lines_with_ends(file, path):
        yield line.removesuffix("\n").removesuffix("\r")


def _lines(path: Path | str) -> Iterator[str]:
    """Yield the decoded lines of a file with their ends, as `read_lines` describes."""
    path = Path(path)
    try:
        with open_file(path) as file:
            yield from _lines_with_ends(file, path)
    except DAMAGED as error:
        raise damaged(f"{path}:1", error) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _lines_with_ends(file: File, path: Path) -> Iterator[str]:
    """Yield the decoded lines of an open file with their ends."""
    number = 0
    try:
        check_text(file.peek(SAMPLE)[:SAMPLE], path)
        for number, raw in enumerate(_raw_lines(file), 1):
            _check_length(raw, path, number)
            if b"\n" in raw[:-1]:
                raise RnnsearchError(f"{path}:{number}: lines end at carriage returns up to here; make all ends alike")
            if number == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)
            yield _decode(raw, path, number)
    except DAMAGED as error:
        raise damaged(f"{path}:{number + 1}", error) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _check_length(raw: bytes, path: Path, number: int) -> None:
    if len(raw) > LONGEST_LINE:
        raise RnnsearchError(f"{path}:{number}: the line has more than {LONGEST_LINE:,} bytes; is this a text?")


def _raw_lines(file: File) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; a line that is too long is cut after `LONGEST_LINE` + 1 bytes."""
    raw = file.readline(LONGEST_LINE + 1)
    if b"\r" in raw and not raw.endswith(b"\n"):
        # There is no line feed in the whole file, or in so many bytes that its lines must end at carriage returns.
        rest = raw
        while raw:
            *lines, rest = rest.split(b"\r")
            yield from (line + b"\r" for line in lines)
            raw = file.read(LONGEST_LINE) if len(rest) <= LONGEST_LINE else b""
            rest += raw
        if rest:
            yield rest
        return
    while raw:
        yield raw
        raw = file.readline(LONGEST_LINE + 1)


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8")) + 1
        # Latin-1 has no letters from 0x80 to 0x9f, where Windows has quotation marks and dashes.
        charset = "latin1" if all(not 0x80 <= byte < 0xA0 for byte in raw) else "windows-1252"
        raise RnnsearchError(
            f"{path}:{number}: not valid UTF-8 (byte 0x{raw[error.start]:02x} at column {column}); "
            f"convert it, e.g. {COMMANDS.get(path.suffix, 'cat')} {path.name} | iconv -f {charset} -t utf-8"
        ) from None
