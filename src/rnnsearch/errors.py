"""The exception and the warning whose messages are written for the user of the program."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that control a terminal or are invisible: line ends, escapes, and marks of the direction of text."""
_CONTROLS_BUT_LINE_ENDS = re.compile(_CONTROLS.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def printable(text: str, lines: bool = False) -> str:
    """Return a text for a terminal, with escapes for control characters; with `lines`, line ends and tabs are kept."""
    return (_CONTROLS_BUT_LINE_ENDS if lines else _CONTROLS).sub(lambda found: repr(found[0])[1:-1], text)


class RnnsearchError(Exception):
    """An error that the user can correct: the message names the value, the place and the remedy.

    The command line prints it as one line and exits with status 2; any other exception is a fault of this program and keeps
    its traceback. Names and values in it may come from untrusted files, so it is one line without control characters.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class RnnsearchWarning(UserWarning):
    """A warning about a request that is fulfilled only in part; the command line prints it as one line."""

    def __str__(self) -> str:
        return printable(super().__str__())


def shown(value: object) -> str:
    """Return a value as an error message shows it; long values are cut off."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an endless number, or a list in a list in a list
        return f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= 60 else f"{text[:59]}…"
