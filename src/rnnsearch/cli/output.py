"""Where a command writes its lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def written(output: Path | None) -> Iterator[TextIO]:
    """The file `output`, which is written whole or not at all, or standard output without one."""
    from rnnsearch.atomic import atomic_write

    if output is None:
        yield sys.stdout
        return
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file
