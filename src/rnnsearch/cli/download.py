"""`rnnsearch download`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    dataset: Annotated[Literal["builtin", "multi30k", "tatoeba", "wmt14-enfr"], typer.Argument(help="Which one.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
) -> None:
    """Write a data set as plain parallel files: fetch a public one, or unpack the built-in corpus.

    `builtin` comes with the package and needs no network: 60,000 generated sentence pairs to train on, 500 to develop and
    500 to test, with gold word alignments. `multi30k` are image captions, `tatoeba` everyday sentences, `wmt14-enfr` is what
    the paper is trained and tested on (some 7 GB to fetch, 22 GB with the text). Stopped half way, or after the connection
    broke, the same command goes on. Everything is checked; the terms of use are printed, and stand in `manifest.json`.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from rnnsearch.datasets import DATASETS, download

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    wanted = DATASETS[dataset]
    console.print(f"{wanted.title}\nTerms: {wanted.licence}", markup=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                # The rate is that of this connection: what was there before does not count.
                tasks[what] = bars.add_task(what, total=total, completed=done)
                if not console.is_terminal:
                    console.print(what, markup=False)
            bars.update(tasks[what], completed=done, total=total)

        found = download(wanted, output, show)
    if not found.fetched:
        console.print(f"{output}: all there already")
    for name, pairs in found.texts.items():
        console.print(f"{pairs:>12,} pairs  {name}", markup=False)
