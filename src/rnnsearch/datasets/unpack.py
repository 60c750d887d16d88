"""Extract plain text from untrusted archives.

No name in an archive is ever used as a path: the wanted files are read out of it, and written under names of ours. An
archive with a name that would lead out of its folder, or with a link or device where text should be, is refused, and so is
one whose contents are out of all proportion to its size.
"""

from __future__ import annotations

import bz2
import gzip
import html
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError

_DECOMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
_TARS = (".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")
_LARGEST_RATIO = 50
"""Text is compressed to between a third and a tenth; a bomb to a thousandth."""
_SMALL = 1 << 20
"""Bytes that may come out of any archive, however small."""
_CHUNK = 1 << 20
_INVALID = 1000
"""One line in so many may be invalid UTF-8; a file of fewer lines may have one."""
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)


class DamagedArchive(RnnsearchError):
    """The archive is cut short, or not what its name says."""

    def __init__(self, archive: Path, reason: str) -> None:
        super().__init__(f"{archive}: {reason}")
        self.archive = archive


def unpack(archive: Path, wanted: Mapping[str, Path], step: Callable[[int], None]) -> dict[str, int]:
    """Write the files of `archive` that are called as the keys of `wanted` (whatever their folder) to its values.

    A file that is no archive counts as one that holds only itself. Texts are written as they are, but `.gz`, `.bz2` and
    `.xz` are decompressed, and of `.sgm` the segments are written, one a line. `step` is called with how many bytes more
    were written. All files are written, whole, or none.

    A line that is not valid UTF-8 is written as an empty line, so that its pair is left out of any training; returns how
    many there were, by the names of the files that had any. Raises RnnsearchError for more than one in a thousand.
    """
    left_out: dict[str, int] = {}
    bound = max(_SMALL, _LARGEST_RATIO * archive.stat().st_size)
    missing = dict(wanted)
    with _damage_told(archive), ExitStack() as stack:
        for name, file in _files(archive):
            output = missing.pop(name, None)
            if output is not None:
                written, invalid = _write(name, file, stack.enter_context(atomic_write(output)), archive, bound, step)
                bound -= written
                left_out |= {output.name: invalid} if invalid else {}
            if not missing:
                return left_out
        raise DamagedArchive(archive, f"no {' and no '.join(missing)} in it")


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name, without folders, and contents of each plain file, to be read before the next is asked for."""
    if archive.name.endswith(_TARS):
        with tarfile.open(archive, "r|*") as tar:
            for member in tar:
                name = _safe_name(member.name, archive)
                contents = tar.extractfile(member) if member.isreg() else None
                if contents is not None:
                    yield name, contents
    elif archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            for entry in file.infolist():
                name = _safe_name(entry.filename, archive)
                linked = entry.external_attr >> 28 == 0o12  # as in st_mode: not a file but where another lies
                if not entry.is_dir() and not linked:
                    with file.open(entry) as contents:
                        yield name, contents
    else:
        with archive.open("rb") as contents:
            yield archive.name, contents


def _safe_name(name: str, archive: Path) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", name):
        raise RnnsearchError(f"{archive}: holds a file called {name!r}, which leads out of its folder; do not trust it")
    return path.name


def _write(
    name: str, file: IO[bytes], output: Path, archive: Path, bound: int, step: Callable[[int], None]
) -> tuple[int, int]:
    """Write `file` as plain text; how many bytes that were, and how many lines were not valid UTF-8."""
    suffixes = PurePosixPath(name).suffixes
    if suffixes and suffixes[-1] in _DECOMPRESSORS:
        file = _DECOMPRESSORS[suffixes.pop()](file)
    chunks = _bounded(file, archive, bound)
    if suffixes[-1:] == [".sgm"]:
        chunks = iter([_segments(b"".join(chunks), archive)])
    lines = ValidLines()
    written = 0
    with output.open("wb") as out:
        for chunk in chunks:
            out.write(lines.feed(chunk))
            written += len(chunk)
            step(len(chunk))
        out.write(lines.end())
    if lines.invalid > max(1, lines.count // _INVALID):
        raise RnnsearchError(
            f"{archive}: {lines.invalid:,} of the {lines.count:,} lines of {name} are not valid UTF-8, the first of them "
            f"line {lines.first:,}; so many are not left out: convert the text, or fetch another copy"
        )
    return written, lines.invalid


class ValidLines:
    """Empties the lines that are not valid UTF-8, in a text that comes in chunks, and counts them."""

    def __init__(self) -> None:
        self.count = self.invalid = self.first = 0
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> bytes:
        """The whole lines that there are now."""
        whole, end, rest = chunk.rpartition(b"\n")
        if not end:
            self._rest += rest
            return b""
        text, self._rest = bytes(self._rest) + whole + end, bytearray(rest)
        return self._checked(text)

    def end(self) -> bytes:
        """The last line, if it does not end."""
        return self._checked(bytes(self._rest))

    def _checked(self, text: bytes) -> bytes:
        before = self.count
        self.count += text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return b"\n".join(self._line(line, number) for number, line in enumerate(text.split(b"\n"), before + 1))
        return text

    def _line(self, line: bytes, number: int) -> bytes:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            self.invalid += 1
            self.first = self.first or number
            return b""
        return line


def _bounded(file: IO[bytes], archive: Path, bound: int) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        bound -= len(chunk)
        if bound < 0:
            raise RnnsearchError(
                f"{archive}: more than {_LARGEST_RATIO} times its size comes out of it; this is no text, do not trust it"
            )
        yield chunk


def _segments(sgml: bytes, archive: Path) -> bytes:
    """The text of a NIST SGML test set: a line a segment, its white space single, character entities resolved."""
    try:
        text = sgml.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedArchive(archive, f"a test set in it is not valid UTF-8 (at byte {error.start})") from None
    return "".join(" ".join(html.unescape(segment).split()) + "\n" for segment in _SEGMENT.findall(text)).encode()


@contextmanager
def _damage_told(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "it ends early"
        raise DamagedArchive(archive, f"damaged or cut short ({reason})") from None
    except OSError as error:
        if error.errno is None:  # as the decompressors say it: not the disk's fault
            raise DamagedArchive(archive, f"damaged or cut short ({error})") from None
        raise
