"""The extraction of text from untrusted archives.

Names in an archive are never used as paths: the requested files are read from it and written under names of ours. Links and
devices are not extracted. An archive is refused if it has a name that would lead out of its folder, or if its contents are
too large in proportion to its own size.
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
"""The largest accepted ratio of contents to archive. That of text is 3 to 10, that of a decompression bomb about 1000."""
_SMALL = 1 << 20
"""The number of bytes that may be extracted from any archive, however small."""
_CHUNK = 1 << 20
_INVALID = 1000
"""One in this many lines may be invalid UTF-8; a file with fewer lines may have one invalid line."""
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)


class DamagedArchive(RnnsearchError):
    """The archive is cut short, damaged, or not of the kind or the contents that are expected."""

    def __init__(self, archive: Path, reason: str) -> None:
        super().__init__(f"{archive}: {reason}")
        self.archive = archive


def unpack(archive: Path, paths: Mapping[str, Path], step: Callable[[int], None]) -> dict[str, int]:
    """Extract files of `archive`: `paths` maps their names, without folders, to the paths to which they are written.

    A file that is not an archive counts as an archive that contains only itself. Files with the endings `.gz`, `.bz2` and
    `.xz` are decompressed; of a file `.sgm`, the segments are written, each on a line. `step` is called with the number of
    bytes that were written since its last call. Either all files are written or none.

    A line that is not valid UTF-8 is written as an empty line, so that its pair will not be trained on. Returns the numbers
    of such lines by the names of the written files that have any. Raises RnnsearchError if there is more than one in a
    thousand, and DamagedArchive if a file is missing.
    """
    left_out: dict[str, int] = {}
    bound = max(_SMALL, _LARGEST_RATIO * archive.stat().st_size)
    missing = dict(paths)
    with _damage_errors(archive), ExitStack() as stack:
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
    """Yield the name, without folders, and the contents of each regular file; the contents must be read before the next."""
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
                linked = entry.external_attr >> 28 == 0o12  # S_IFLNK of st_mode: a symbolic link
                if not entry.is_dir() and not linked:
                    with file.open(entry) as contents:
                        yield name, contents
    else:
        with archive.open("rb") as contents:
            yield archive.name, contents


def _safe_name(name: str, archive: Path) -> str:
    """Return a name in an archive without its folders. Raises RnnsearchError if it leads out of the archive's folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match("[A-Za-z]:", name):
        raise RnnsearchError(f"{archive}: holds a file called {name!r}, which leads out of its folder; do not trust it")
    return path.name


def _write(
    name: str, file: IO[bytes], output: Path, archive: Path, bound: int, step: Callable[[int], None]
) -> tuple[int, int]:
    """Write `file` as text, and return the number of bytes and the number of lines that were not valid UTF-8."""
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
    """Replaces lines that are not valid UTF-8 by empty ones, in a text that arrives in chunks, and counts them."""

    def __init__(self) -> None:
        self.count = self.invalid = self.first = 0
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> bytes:
        """Add a chunk, and return the lines that it completes."""
        whole, end, rest = chunk.rpartition(b"\n")
        if not end:
            self._rest += rest
            return b""
        text, self._rest = bytes(self._rest) + whole + end, bytearray(rest)
        return self._checked(text)

    def end(self) -> bytes:
        """Return the last line if the text does not end with a line feed."""
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
    """Yield the contents of a file in chunks. Raises RnnsearchError if they have more than `bound` bytes."""
    while chunk := file.read(_CHUNK):
        bound -= len(chunk)
        if bound < 0:
            raise RnnsearchError(
                f"{archive}: more than {_LARGEST_RATIO} times its size comes out of it; this is no text, do not trust it"
            )
        yield chunk


def _segments(sgml: bytes, archive: Path) -> bytes:
    """Return the text of a NIST SGML test set, with a segment on each line, single spaces, and entities resolved."""
    try:
        text = sgml.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedArchive(archive, f"a test set in it is not valid UTF-8 (at byte {error.start})") from None
    return "".join(" ".join(html.unescape(segment).split()) + "\n" for segment in _SEGMENT.findall(text)).encode()


@contextmanager
def _damage_errors(archive: Path) -> Iterator[None]:
    """Return a context that turns the errors of decompression into DamagedArchive."""
    try:
        yield
    except _DAMAGED as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "it ends early"
        raise DamagedArchive(archive, f"damaged or cut short ({reason})") from None
    except OSError as error:
        if error.errno is None:  # an error of a decompressor; errors of the disk have a number
            raise DamagedArchive(archive, f"damaged or cut short ({error})") from None
        raise
