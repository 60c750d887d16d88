"""Files from a server, over connections that break: resumed where they broke off, and checked when they are whole."""

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
"""Called with what is being done, the bytes done so far, and how many there are in all, where that is known."""

_CHECKSUMS = "checksums"
_TIMEOUT = 60.0
_CHUNK = 1 << 18
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further try, after which it is given up; a try that came further than any before starts them anew."""
_FOR_GOOD = frozenset({400, 401, 403, 404, 405, 410, 451})


def fetch(archive: Archive, folder: Path, progress: Progress, pauses: tuple[float, ...] = _PAUSES) -> Path:
    """`archive` as a whole file in `folder`, its checksum right.

    Until it is whole it is called `….partial`; a later call goes on from there (HTTP `Range`, and `If-Range`, lest the
    halves of two editions be joined). A checksum that is not known beforehand is written to `folder/checksums`, a file for
    `sha256sum -c`, and must be the same ever after.
    """
    path = folder / archive.name
    if path.exists():
        _check(path, archive, progress)
        return path
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
    partial = _Partial(archive, folder)
    partial.complete(progress, pauses)
    partial.edition.unlink(missing_ok=True)
    _check(partial.path, archive, progress)
    partial.path.replace(path)
    return path


def discard(path: Path) -> None:
    """Delete a fetched file, and forget its checksum: the next `fetch` begins anew."""
    path.unlink(missing_ok=True)
    recorded = recorded_checksums(path.parent)
    if recorded.pop(path.name, None):
        _record(path.parent, recorded)


class _Partial:
    """A file that is not whole yet, and beside it how the server names the edition that it is of."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.archive = archive
        self.path = folder / f"{archive.name}.partial"
        self.edition = folder / f"{archive.name}.partial.edition"

    def complete(self, progress: Progress, pauses: tuple[float, ...]) -> None:
        """Fetch what is missing, trying again after each of `pauses`; RnnsearchError if it will not come."""
        left = list(pauses)
        answered, furthest = False, self._size()
        while True:
            try:
                if self._fetch_rest(progress):
                    return
                reason = "the connection broke off"
            except urllib.error.HTTPError as error:
                if error.code in _FOR_GOOD:
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
                    left = []  # no network at all: waiting will not help
            if self._size() > furthest:
                left, answered, furthest = list(pauses), True, self._size()
            if not left:
                raise RnnsearchError(
                    f"{self.archive.url}: cannot fetch it: {reason}; is there a network? The same command goes on from the "
                    f"{self._size():,} bytes that are there"
                )
            time.sleep(left.pop(0))

    def _fetch_rest(self, progress: Progress) -> bool:
        """Append the data of one connection to the file; returns whether the file is complete."""
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
                return True  # the last time, everything came, and the program ended before it knew
            self._start_over()
            return False
        with response:
            total = _total(response.headers.get("Content-Range"))
            if response.status != 206 or _first(response.headers.get("Content-Range")) != start:
                # The server knows no ranges, or has another edition now.
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
        with _told(self.path):
            file = self.path.open("ab")
        with file:
            while True:
                progress(self.archive.name, done, total if total is not None else self.archive.size)
                chunk = response.read(_CHUNK)
                if not chunk:
                    return done == total if total is not None else True
                with _told(self.path):
                    file.write(chunk)
                    file.flush()
                done += len(chunk)

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _start_over(self) -> None:
        self.path.unlink(missing_ok=True)
        self.edition.unlink(missing_ok=True)


def _first(content_range: str | None) -> int | None:
    match = re.match(r"bytes (\d+)-", content_range or "")
    return int(match[1]) if match else None


def _total(content_range: str | None) -> int | None:
    match = re.fullmatch(r"bytes .*/(\d+)", content_range or "")
    return int(match[1]) if match else None


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """A file that cannot be written is no broken connection, to be tried again: both are an OSError."""
    try:
        yield
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot write it: {error.strerror}; after that, the same command goes on") from None


def _check(path: Path, archive: Archive, progress: Progress) -> None:
    """Compare size and checksum with what is known, or record the checksum; a wrong file is deleted."""
    recorded = recorded_checksums(path.parent)
    known = archive.checksum or ("" if archive.changing else f"sha256:{recorded.get(archive.name, '')}")
    kind, _, expected = known.partition(":")
    progress(f"checking {archive.name}", 0, None)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        found = {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        if expected and kind not in found:
            file.seek(0)
            found[kind] = hashlib.file_digest(file, kind).hexdigest()
    size = path.stat().st_size
    wrong = None
    if archive.size is not None and size != archive.size:
        wrong = f"it has {size:,} bytes and not {archive.size:,}"
    elif expected and found[kind] != expected:
        wrong = f"its checksum ({kind}) is {found[kind]} and not {expected}"
    if wrong is not None:
        path.unlink()
        advice = "" if archive.checksum else f"; should it be another edition, delete its line in {path.parent / _CHECKSUMS}"
        raise RnnsearchError(f"{archive.url}: {wrong}: it was deleted, and the same command fetches it anew{advice}")
    if recorded.get(archive.name) != found["sha256"]:
        _record(path.parent, recorded | {archive.name: found["sha256"]})


def recorded_checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file that was fetched into `folder`, by its name."""
    path = folder / _CHECKSUMS
    if not path.exists():
        return {}
    pairs = (line.split("  ", 1) for line in path.read_text(encoding="utf-8").splitlines() if "  " in line)
    return {name: digest for digest, name in pairs}


def _record(folder: Path, checksums: dict[str, str]) -> None:
    write_text(folder / _CHECKSUMS, "".join(f"{digest}  {name}\n" for name, digest in checksums.items()))
