"""Text files that are small enough to be read whole, and their encodings."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.no_text import check_text
from rnnsearch.formats.opening import SAMPLE, File

MOST_BYTES = 1 << 28
"""The largest size of a file that is read whole."""
LONGEST_LINE = 1 << 22
"""The largest number of characters of a line of a file that is read line by line."""
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins with the same bytes
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_whole(file: File, path: Path) -> bytes:
    """Return the bytes of a file. Raises RnnsearchError for more than `MOST_BYTES`."""
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RnnsearchError(f"{path}: more than {MOST_BYTES:,} bytes, which no file of its kind has; is it one?")
    return content


def encoding_of(start: bytes, declared: str = "utf-8") -> str:
    """Return the encoding of the byte order mark, or without one the declared encoding."""
    return next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), declared)


def mark_of(content: bytes) -> bytes:
    """Return the byte order mark at the beginning of a file; empty if there is none."""
    return next((mark for mark in _MARKS if content.startswith(mark)), b"")


def separated(content: bytes, path: Path, declared: str = "utf-8") -> tuple[str, str]:
    """Return the text of a file after its byte order mark, and its encoding. Raises RnnsearchError as `decoded` does."""
    text = decoded(content, path, declared)
    if mark := mark_of(content):
        text = text.removeprefix("\ufeff")
        big = {codecs.BOM_UTF16_BE: "be", codecs.BOM_UTF32_BE: "be"}.get(mark, "le")
        encoding = encoding_of(content)
        return text, "utf-8" if encoding == "utf-8-sig" else f"{encoding}-{big}"
    return text, declared


def decoded(content: bytes, path: PurePath, declared: str = "utf-8") -> str:
    """Decode a file, line ends included. Raises RnnsearchError, with the line, if it has bytes that are not allowed."""
    encoding = encoding_of(content, declared)
    _check_width(content, path, encoding)
    try:
        return content.decode(encoding)
    except LookupError:
        raise RnnsearchError(f"{path}: its encoding {declared!r} is not known; convert it to UTF-8") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RnnsearchError(
            f"{path}:{line}: not valid {encoding.upper().removesuffix('-SIG')} (byte 0x{content[error.start]:02x}); convert "
            f"it, e.g. iconv -f windows-1252 -t utf-8 {path.name}"
        ) from None
    except UnicodeError as error:
        raise RnnsearchError(f"{path}: not valid {encoding} ({error}); convert it to UTF-8") from None


def lines_of(file: File, path: Path, newline: str) -> Iterator[str]:
    """Yield the lines of an open file with their ends, which are those that `newline` means for `open`.

    The encoding is that of the byte order mark, or UTF-8. Raises RnnsearchError, with the line, for a line that is too long,
    and for bytes that are not allowed.
    """
    start = file.peek(SAMPLE)[:SAMPLE]
    encoding = encoding_of(start)
    _check_width(start, path, encoding)
    text = io.TextIOWrapper(file, encoding, newline=newline)
    number = 0
    try:
        while line := text.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise RnnsearchError(
                    f"{path}:{number}: a line of {LONGEST_LINE:,} characters or more; is this the right file?"
                )
            yield line
    except UnicodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = f"{path}:{number + 1}: not valid {encoding.upper().removesuffix('-SIG')} ({byte} in what follows)"
        raise RnnsearchError(f"{reason}; convert it, e.g. iconv -f windows-1252 -t utf-8 {path.name}") from None
    finally:
        text.detach()  # the file belongs to the caller


def _check_width(start: bytes, path: PurePath, encoding: str) -> None:
    """Raise RnnsearchError for a file that is not in this encoding but in UTF-16 or UTF-32, without a byte order mark."""
    if not mark_of(start) and not re.match("utf[-_]?(?:16|32)", encoding, re.IGNORECASE):
        check_text(start, path)
