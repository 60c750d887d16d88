"""Input files before they are read: whether they are readable, and whether they can be read more than once."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import unreadable


def check_readable(*paths: Path | str) -> None:
    """Raise RnnsearchError for the first of these files that is missing, is a folder, or is not readable for this user.

    Commands that do something slow before they read call this first. No file is opened, so that pipes keep their data.
    """
    for path in map(Path, paths):
        if str(path) == "-":
            if sys.stdin is None:
                raise RnnsearchError("-: standard input is closed; name a file")
            continue
        try:
            if stat.S_ISDIR(path.stat().st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not os.access(path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise unreadable(path, error) from None


def read_only_once(path: Path | str) -> bool:
    """Whether a path can be read only once, like a pipe; `-` always counts as such, even if it is a regular file."""
    if str(path) == "-":
        return True
    try:
        status = Path(path).stat()
    except OSError:  # the function that reads it will report the error
        return False
    return not stat.S_ISREG(status.st_mode) and not os.path.samestat(status, Path(os.devnull).stat())


def check_repeatable(*paths: Path | str) -> None:
    """Raise RnnsearchError for the first of these paths that can be read only once, for callers that read them twice."""
    for path in paths:
        if read_only_once(path):
            raise RnnsearchError(f"{path}: can be read only once, and is needed again; write it into a file, and name it")


def check_distinct(*paths: Path | str) -> None:
    """Raise RnnsearchError if two of these paths are the same pipe, for the second reader would get nothing."""
    seen: set[tuple[int, int]] = set()
    for path in filter(read_only_once, paths):
        try:
            status = os.fstat(0) if str(path) == "-" else Path(path).stat()
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in seen:
            raise RnnsearchError(f"{path}: can be read only once, and is given twice; write it into a file, and name it")
        seen.add((status.st_dev, status.st_ino))
