"""The bar that shows how far a command is, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def bar(what: str, *files: Path | str | None, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """A bar on standard error with lines done, a rate and the time left; call what it yields for so many more lines.

    Only on a terminal, and if `wanted`. `files` are counted for it; where one is a pipe, the end is not known.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (wanted and console.is_terminal):
        yield lambda count: None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(what, total=_lines(files), rate="")

        def advance(count: int) -> None:
            progress.advance(task, count)
            speed = progress.tasks[0].speed
            progress.update(task, rate="" if speed is None else f"{speed:,.1f} lines/s")

        yield advance


def beside_output(output: Path | None) -> bool:
    """Whether a bar leaves alone what a command writes: to this file, or to standard output."""
    return output is not None or not sys.stdout.isatty()


def _lines(files: tuple[Path | str | None, ...]) -> int | None:
    """How many lines these files have in all; None where one is a pipe."""
    from rnnsearch.data.read import read_lines

    total = 0
    for file in files:
        if file is None or str(file) == "-" or not Path(file).is_file():
            return None
        total += sum(1 for _ in read_lines(file))
    return total
