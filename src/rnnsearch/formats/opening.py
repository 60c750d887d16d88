"""Opening files that may be compressed, which is recognised by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from rnnsearch.errors import RnnsearchError
from rnnsearch.extras import imports_of_extras

File: TypeAlias = io.BufferedReader
"""An open file whose `peek` returns the next bytes without reading them."""

SAMPLE = 1 << 15
"""The number of bytes at the beginning of a file from which its format is recognised."""
MARKS = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\0": ".xz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
"""The first bytes of compressed files, and the usual endings of their names."""
COMMANDS = {".gz": "gzip -dc", ".xz": "xz -dc", ".bz2": "bzip2 -dc", ".zst": "zstd -dc"}
"""The commands that decompress files, by the endings of their names."""
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""The errors of damaged compressed files; bzip2 and Zstandard raise OSError without a number instead."""


@contextmanager
def open_file(path: Path) -> Iterator[File]:
    """Return a context with the open file, or standard input for `-`.

    The file is decompressed if its first bytes or its name are those of a compressed file.

    Raises OSError, and the errors in `DAMAGED`, also while the file is read.
    """
    if str(path) != "-":
        raw: Any = path.open("rb", buffering=0)
    elif sys.stdin is None:
        raise RnnsearchError("-: standard input is closed; name a file")
    else:
        raw = io.FileIO(sys.stdin.fileno(), closefd=False)
    with io.BufferedReader(raw, 2 * SAMPLE) as file:
        head = file.peek(SAMPLE)[:SAMPLE]
        ending = next((ending for mark, ending in MARKS.items() if head.startswith(mark) and not head.isascii()), None)
        if ending is None and path.suffix in COMMANDS and head:
            ending = path.suffix  # the file is damaged, and reading it raises the error
        if ending is None:
            yield file
            return
        with io.BufferedReader(_decompressed(file, ending), 2 * SAMPLE) as text:
            yield text


def _decompressed(file: File, ending: str) -> Any:
    match ending:
        case ".gz":
            return gzip.GzipFile(fileobj=file)
        case ".xz":
            return lzma.LZMAFile(file)
        case ".bz2":
            return bz2.BZ2File(file)
    with imports_of_extras():
        import pyarrow

    return pyarrow.input_stream(file, compression="zstd")


@contextmanager
def opened(path: Path) -> Iterator[File]:
    """Return a context with the open file. Raises RnnsearchError for a file that cannot be read or is damaged."""
    try:
        with open_file(path) as file:
            yield file
    except DAMAGED as error:
        raise damaged(str(path), error) from None
    except OSError as error:
        raise unreadable(path, error) from None


def damaged(place: str, error: Exception) -> RnnsearchError:
    """Return the error for a compressed file that is damaged at this place."""
    reason = str(error).rstrip(".")
    return RnnsearchError(f"{place}: damaged or cut short ({reason}); fetch or compress the file again")


def unreadable(path: Path, error: OSError) -> RnnsearchError:
    """Return the error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return RnnsearchError(f"{path}: no such file")
    if isinstance(error, IsADirectoryError):
        return RnnsearchError(f"{path}: this is a folder; name a text file")
    if error.errno is None:  # of a library that decompresses
        return damaged(str(path), error)
    return RnnsearchError(f"{path}: cannot read it: {error.strerror or error}")


def without_compression(path: Path) -> Path:
    """Return the name of a file without the ending of its compression: `a.tmx` for `a.tmx.gz`."""
    return path.with_suffix("") if path.suffix in COMMANDS else path
