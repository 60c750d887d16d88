"""Signals that end a command: Ctrl-C, `kill`, and the closing of the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """A context that such a signal ends by SystemExit, so that what is temporary is removed; a second one ends the process.

    The status is that of a shell: 130 after Ctrl-C, 143 after `kill`. Whatever else is raised after the signal, where a
    library has taken it for something else, gives this status too, and nothing is told. A signal that is ignored stays so.
    """
    received: list[int] = []
    before: dict[int, Any] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        received.append(number)
        raise SystemExit(128 + number)

    def unraisable(what: Any, /) -> None:
        """Exit at once in places where no exception can be raised, such as a callback of the import system."""
        if received:
            os._exit(128 + received[0])
        told(what)

    told, sys.unraisablehook = sys.unraisablehook, unraisable
    with suppress(ValueError):  # not the main thread: no signals to catch
        for number in ENDING:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, stop)
    try:
        yield
    except BaseException:
        if received:
            raise SystemExit(128 + received[0]) from None
        raise
    finally:
        sys.unraisablehook = told
        if not received:
            for number, handler in before.items():
                signal.signal(number, handler)
