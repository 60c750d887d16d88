"""The output of a job: a file that is written atomically, or standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from rnnsearch.errors import printable


@contextmanager
def written(output: Path | None) -> Iterator[TextIO]:
    """Open the file `output`, which is written whole or not at all, or standard output if it is None.

    Control characters are escaped for a terminal, because they may come from the vocabulary of an untrusted model.
    """
    from rnnsearch.atomic import atomic_write

    if output is None:
        yield cast(TextIO, _ToTerminal()) if sys.stdout.isatty() else sys.stdout
        return
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_whole(out: TextIO, content: bytes) -> None:
    """Write the bytes of a document; a terminal gets them as text."""
    if isinstance(out, _ToTerminal):
        out.write(content.decode("utf-8", "replace"))
    else:
        out.flush()
        out.buffer.write(content)


class _ToTerminal(io.TextIOBase):
    def write(self, text: str) -> int:
        return sys.stdout.write(printable(text, lines=True))

    def flush(self) -> None:
        sys.stdout.flush()
