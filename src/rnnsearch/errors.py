"""The one exception that is meant for the person at the keyboard."""

from __future__ import annotations


class RnnsearchError(Exception):
    """Something the user can put right: the message names the value, the place, and the way out.

    The command line prints it as one line and exits with status 2; anything else that is raised is a
    fault of this program and keeps its traceback.
    """
