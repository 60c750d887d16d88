"""The bar that shows how far a command is, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def bar(
    what: str, file: Path | str | None = None, total: int | None = None, wanted: bool = True
) -> Iterator[Callable[[int], None]]:
    """A bar on standard error with lines done, a rate and the time left; call what it yields for so many more lines.

    Only on a terminal, and if `wanted`. There are `total` lines, or those of a file; of a pipe, the end is not known.
    """
    if not (wanted and sys.stderr.isatty()):
        yield lambda count: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=_lines(file) if total is None else total, rate="")

        def advance(count: int) -> None:
            progress.advance(task, count)
            speed = progress.tasks[0].speed
            progress.update(task, rate="" if speed is None else f"{speed:,.1f} lines/s")

        yield advance


def beside_output(output: Path | None) -> bool:
    """Whether a bar leaves alone what a command writes: to this file, or to standard output."""
    return output is not None or not sys.stdout.isatty()


def _lines(file: Path | str | None) -> int | None:
    from rnnsearch.data.read import read_lines

    if file is None or not Path(file).is_file():
        return None
    return sum(1 for _ in read_lines(file))
