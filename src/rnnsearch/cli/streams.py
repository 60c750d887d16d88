"""The standard streams of a command, of which any may be closed, full, or read by nobody."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from rnnsearch.errors import RnnsearchError


def prepare_streams() -> None:
    """Make the standard streams fit for use: what is read and written is UTF-8, whatever the locale; names need not be.

    A stream that is closed, as cron may have it, becomes one of `/dev/null`: its number would otherwise be that of the next
    file that is opened. What standard error does not take is dropped, for the work matters more than what is told of it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is sys.__stderr__:  # else somebody else reads it
        # Without a buffer of bytes: what a signal had interrupted would be in it again.
        raw: io.RawIOBase = _Unfailing(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


def check_open() -> None:
    """Raise RnnsearchError where standard output was closed before this program began; for what writes its results there."""
    if sys.__stdout__ is None:
        raise RnnsearchError("standard output is closed, and the result would be lost; open it, or name a file for it")


def drop_output() -> None:
    """Have what is still to be written to standard output go nowhere, after it has failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class _Unfailing(io.FileIO):
    """A file that takes everything, and drops what cannot be written."""

    def write(self, content: object) -> int:
        view, written = memoryview(content), 0  # type: ignore[arg-type]
        with suppress(OSError):
            while written < view.nbytes:
                written += super().write(view[written:]) or 0
        return view.nbytes
