"""The exception and the warning whose messages are written for the user of the program."""

from __future__ import annotations


class RnnsearchError(Exception):
    """Something the user can put right: the message names the value, the place, and the way out.

    The command line prints it as one line and exits with status 2; any other exception is a fault of this program and keeps
    its traceback.
    """


class RnnsearchWarning(UserWarning):
    """Something that is not done as asked, but that does not stop the work; the command line prints it as one line."""


def shown(value: object) -> str:
    """A value for an error message, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
