"""The progress of a command: a bar on a terminal, and lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LINE_EVERY_SECONDS = 60.0


@contextmanager
def bar(
    what: str, file: Path | str | None = None, total: int | None = None, shown: bool = True
) -> Iterator[Callable[[int], None]]:
    """Show on standard error, if `shown`, what is done, a rate and the time left; call what is yielded for so many more.

    On a terminal, that is a bar; elsewhere, a line every minute. There are `total`, or as many as lines in a file; of a
    pipe, the end is not known.
    """
    if not shown:
        yield lambda count: None
        return
    if not sys.stderr.isatty():
        yield _log(what, file, total)
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from rnnsearch.terminal import DescriptionColumn, Terminal

    columns = (
        DescriptionColumn(), BarColumn(), MofNCompleteColumn(), DescriptionColumn("{task.fields[rate]}"),
        TimeRemainingColumn(), DescriptionColumn("left"),
    )  # fmt: skip
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        task = progress.add_task(what, total=_lines(file) if total is None else total, rate="")

        def advance(count: int) -> None:
            progress.advance(task, count)
            speed = progress.tasks[0].speed
            progress.update(task, rate="" if speed is None else f"{speed:,.1f} lines/s")

        yield advance


def beside_output(output: Path | None) -> bool:
    """Return whether a bar would not disturb the output of a command, which goes to this file or to standard output."""
    return output is not None or not sys.stdout.isatty()


def _log(what: str, file: Path | str | None, total: int | None) -> Callable[[int], None]:
    """Write progress to a log only for commands that take longer than a minute."""
    done, began = 0, time.monotonic()
    told, lines = began, total

    def advance(count: int) -> None:
        nonlocal done, told, lines
        done, now = done + count, time.monotonic()
        if not done or now - told < LINE_EVERY_SECONDS:
            return
        told, lines, rate = now, _lines(file) if lines is None else lines, done / (now - began)
        text = f"{what}: {done:,} done, {rate:,.1f} lines/s"
        if lines is not None:
            text = f"{what}: {done:,} of {lines:,} done, {rate:,.1f} lines/s, {(lines - done) / rate / 60:,.0f} minutes left"
        print(text, file=sys.stderr, flush=True)

    return advance


def _lines(file: Path | str | None) -> int | None:
    from rnnsearch.data.lines import read_lines
    from rnnsearch.data.read import has_units

    if file is None or not Path(file).is_file() or has_units(Path(file), Path(file)):
        return None
    return sum(1 for _ in read_lines(file))
