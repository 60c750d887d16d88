"""Checks of the lines that a caller passes: a list of strings, or a stream of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rnnsearch.errors import RnnsearchError, shown

T = TypeVar("T")


def as_lines(given: object, name: str) -> list[str]:
    """Return the lines as a list. Raises RnnsearchError for anything else, in particular a single string."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise RnnsearchError(f"{name} = {shown(given)}; give a string, or a list of strings")
    lines = list(given)
    for place, line in enumerate(lines):
        if not isinstance(line, str):
            raise RnnsearchError(f"{name}[{place}] = {shown(line)}; every line is a string")
    return lines


def arriving(rows: Iterable[T], most: int = 1000) -> Iterator[list[T]]:
    """Yield rows in groups of at most `most`: all that have arrived when the last group is done, but at least one."""
    arrived: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(maxsize=2 * most)

    def read() -> None:
        try:
            for row in rows:
                arrived.put((row,))
            arrived.put(None)
        except BaseException as error:  # it is raised again in the thread that reads the stream
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        group: list[T] = []
        item = arrived.get()
        while isinstance(item, tuple):
            group.append(item[0])
            if len(group) == most:
                break
            try:
                # A file's lines come faster than this; a person's do not.
                item = arrived.get(timeout=0.02)
            except queue.Empty:
                break
        if group:
            yield group
        if isinstance(item, BaseException):
            raise item
        if item is None:
            return


def checked(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a stream. Raises RnnsearchError for one that is not a string."""
    for line in lines:
        if not isinstance(line, str):
            raise RnnsearchError(f"stream: a line is {shown(line)}; every line is a string")
        yield line
