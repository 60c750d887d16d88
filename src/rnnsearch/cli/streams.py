"""The standard streams of a command, each of which may be closed, full, or without a reader."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from rnnsearch.errors import RnnsearchError


def prepare_streams() -> None:
    """Prepare the standard streams: text is UTF-8 in any locale, except that file names need not be valid UTF-8.

    A closed stream, which cron may cause, is replaced by `/dev/null`; otherwise the next file to be opened would get its
    number. Messages that cannot be written to standard error are dropped, because the work matters more than messages.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is sys.__stderr__:  # otherwise, another program part has redirected it
        # Without a buffer of bytes: what a signal had interrupted would be in it again.
        raw: io.RawIOBase = _Unfailing(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


def check_open() -> None:
    """Raise RnnsearchError if standard output, which gets the results, was closed at the start of the program."""
    if sys.__stdout__ is None:
        raise RnnsearchError("standard output is closed, and the result would be lost; open it, or name a file for it")


def drop_output() -> None:
    """Discard the rest of the output after a failure of standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class _Unfailing(io.FileIO):
    """A file that accepts all text, and drops the text that cannot be written."""

    def write(self, content: object) -> int:
        view, written = memoryview(content), 0  # type: ignore[arg-type]
        with suppress(OSError):
            while written < view.nbytes:
                written += super().write(view[written:]) or 0
        return view.nbytes
