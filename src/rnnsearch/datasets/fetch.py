"""Downloads of files that are resumed after a broken connection, and checked when they are complete."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rnnsearch.atomic import write_text
from rnnsearch.datasets.catalog import Archive
from rnnsearch.errors import RnnsearchError
from rnnsearch.version import __version__

Progress = Callable[[str, int, int | None], None]
"""A function that is called with the activity, the bytes done so far, and the total number of bytes if it is known."""

_CHECKSUMS = "checksums"
_TIMEOUT = 60.0
_CHUNK = 1 << 18
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""The seconds to wait before each further attempt. After the last one the download fails; an attempt that gets further than
all attempts before it starts the list again."""
_PERMANENT = frozenset({400, 401, 403, 404, 405, 410, 451})


def fetch(archive: Archive, folder: Path, progress: Progress, pauses: tuple[float, ...] = _PAUSES) -> Path:
    """Download `archive` into `folder` unless it is there already, check its checksum, and return the path of the file.

    An incomplete file has the name `….partial`; a later call continues it (with HTTP `Range`, and with `If-Range`, so that
    parts of different versions of the file are not joined). A checksum that is not known beforehand is recorded in
    `folder/checksums`, which `sha256sum -c` can read, and later downloads have to have the same. Raises RnnsearchError if
    the download fails or the file is not the expected one.
    """
    path = folder / archive.name
    if path.exists():
        _check(path, archive, progress)
        return path
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    partial = _Partial(archive, folder)
    partial.complete(progress, pauses)
    partial.edition.unlink(missing_ok=True)
    _check(partial.path, archive, progress)
    partial.path.replace(path)
    return path


def discard(path: Path) -> None:
    """Delete a downloaded file and its recorded checksum, so that the next `fetch` downloads it again."""
    path.unlink(missing_ok=True)
    recorded = recorded_checksums(path.parent)
    if recorded.pop(path.name, None):
        _record(path.parent, recorded)


class _Partial:
    """An incomplete download: the file, and beside it the server's name for its version (`ETag` or `Last-Modified`)."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.archive = archive
        self.path = folder / f"{archive.name}.partial"
        self.edition = folder / f"{archive.name}.partial.edition"

    def complete(self, progress: Progress, pauses: tuple[float, ...]) -> None:
        """Download the rest of the file, with further attempts after `pauses`. Raises RnnsearchError if all of them fail."""
        left = list(pauses)
        answered, furthest = False, self._size()
        while True:
            try:
                if self._fetch_rest(progress):
                    return
                reason = "the connection broke off"
            except urllib.error.HTTPError as error:
                if error.code in _PERMANENT:
                    raise RnnsearchError(
                        f"{self.archive.url}: the server answers {error.code} {error.reason}; has it moved?"
                    ) from None
                reason = f"the server answers {error.code} {error.reason}"
                answered = True
            except (OSError, http.client.HTTPException) as error:
                cause = error.reason if isinstance(error, urllib.error.URLError) else error
                reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
                unreachable = isinstance(cause, socket.gaierror) or getattr(cause, "errno", None) == errno.ENETUNREACH
                if unreachable and not answered:
                    left = []  # there is no network, so waiting will not help
            if self._size() > furthest:
                left, answered, furthest = list(pauses), True, self._size()
            if not left:
                raise RnnsearchError(
                    f"{self.archive.url}: cannot fetch it: {reason}; is there a network? The same command goes on from the "
                    f"{self._size():,} bytes that are there"
                )
            time.sleep(left.pop(0))

    def _fetch_rest(self, progress: Progress) -> bool:
        """Append the data of one connection to the file, and return whether the file is complete."""
        start = self._size()
        headers = {"User-Agent": f"rnnsearch/{__version__}", "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
            if self.edition.exists():
                headers["If-Range"] = self.edition.read_text(encoding="utf-8")
        request = urllib.request.Request(self.archive.url, headers=headers)
        try:
            response = urllib.request.urlopen(request, timeout=_TIMEOUT)
        except urllib.error.HTTPError as error:
            if error.code != 416:
                raise
            if _total(error.headers.get("Content-Range")) == start:
                return True  # an earlier run received the whole file, but ended before it could rename it
            self._start_over()
            return False
        with response:
            total = _total(response.headers.get("Content-Range"))
            if response.status != 206 or _first(response.headers.get("Content-Range")) != start:
                # The server does not support ranges, or has another version of the file now.
                self._start_over()
                start = 0
                if response.status == 206:
                    return False
                length = response.headers.get("Content-Length")
                total = int(length) if length else None
            edition = response.headers.get("ETag") or response.headers.get("Last-Modified")
            if edition and not edition.startswith("W/"):
                write_text(self.edition, edition)
            return self._append(response, start, total, progress)

    def _append(self, response: http.client.HTTPResponse, done: int, total: int | None, progress: Progress) -> bool:
        """Append the data of a response to the file, and return whether the file is complete."""
        with _write_errors(self.path):
            file = self.path.open("ab")
        with file:
            while True:
                progress(self.archive.name, done, total if total is not None else self.archive.size)
                chunk = response.read(_CHUNK)
                if not chunk:
                    return done == total if total is not None else True
                with _write_errors(self.path):
                    file.write(chunk)
                    file.flush()
                done += len(chunk)

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _start_over(self) -> None:
        self.path.unlink(missing_ok=True)
        self.edition.unlink(missing_ok=True)


def _first(content_range: str | None) -> int | None:
    """Return the first byte position of a `Content-Range` header."""
    match = re.match(r"bytes (\d+)-", content_range or "")
    return int(match[1]) if match else None


def _total(content_range: str | None) -> int | None:
    """Return the total size that a `Content-Range` header states."""
    match = re.fullmatch(r"bytes .*/(\d+)", content_range or "")
    return int(match[1]) if match else None


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Return a context that turns OSErrors from writing into RnnsearchErrors; `complete` retries after other OSErrors."""
    try:
        yield
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot write it: {error.strerror}; after that, the same command goes on") from None


def _check(path: Path, archive: Archive, progress: Progress) -> None:
    """Check the size and the checksum of a file, and record its SHA-256. A wrong file is deleted, with RnnsearchError."""
    recorded = recorded_checksums(path.parent)
    checksum = archive.checksum or ("" if archive.changing else f"sha256:{recorded.get(archive.name, '')}")
    kind, _, expected = checksum.partition(":")
    progress(f"checking {archive.name}", 0, None)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        digests = {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        if expected and kind not in digests:
            file.seek(0)
            digests[kind] = hashlib.file_digest(file, kind).hexdigest()
    size = path.stat().st_size
    wrong = None
    if archive.size is not None and size != archive.size:
        wrong = f"it has {size:,} bytes and not {archive.size:,}"
    elif expected and digests[kind] != expected:
        wrong = f"its checksum ({kind}) is {digests[kind]} and not {expected}"
    if wrong is not None:
        path.unlink()
        advice = "" if archive.checksum else f"; should it be another edition, delete its line in {path.parent / _CHECKSUMS}"
        raise RnnsearchError(f"{archive.url}: {wrong}: it was deleted, and the same command fetches it anew{advice}")
    if recorded.get(archive.name) != digests["sha256"]:
        _record(path.parent, recorded | {archive.name: digests["sha256"]})


def recorded_checksums(folder: Path) -> dict[str, str]:
    """Return the recorded SHA-256 digests of the files that were downloaded into `folder`, by the names of the files."""
    path = folder / _CHECKSUMS
    if not path.exists():
        return {}
    pairs = (line.split("  ", 1) for line in path.read_text(encoding="utf-8").splitlines() if "  " in line)
    return {name: digest for digest, name in pairs}


def _record(folder: Path, checksums: dict[str, str]) -> None:
    write_text(folder / _CHECKSUMS, "".join(f"{digest}  {name}\n" for name, digest in checksums.items()))
