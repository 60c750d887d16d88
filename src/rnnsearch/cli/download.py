"""`rnnsearch download`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    dataset: Annotated[
        Literal["builtin", "cmudict", "multi30k", "tatoeba", "wikipron", "wmt14-enfr"],
        typer.Argument(help="The data set."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the files.")],
    language: Annotated[
        str | None, typer.Argument(metavar="[LANG]", help="The dictionary of `wikipron`, such as `fra_latn_broad`.")
    ] = None,
) -> None:
    """Write a data set as plain parallel files.

    `builtin` is the corpus that comes with the package and needs no network: 60,000 generated pairs for training, 500 for
    development and 500 for testing, with gold word alignments. The others are public and downloaded: `multi30k` has image
    captions, `tatoeba` has everyday sentences, `wmt14-enfr` is the data of the paper (a download of 7 GB, 22 GB on disk);
    `wikipron` and `cmudict` are pronunciation dictionaries, for `train --tsv`. If the download is stopped or the connection
    breaks, the same command continues. Checksums are verified. The terms of use are printed and written to `manifest.json`.
    """
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from rnnsearch.datasets import DATASETS, download, wikipron
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.terminal import DescriptionColumn, Terminal

    console = Terminal(stderr=True, soft_wrap=True)
    columns = DescriptionColumn(), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    if (dataset == "wikipron") != (language is not None):
        raise RnnsearchError(f"download {dataset}: give a language for wikipron alone, as in wikipron fra_latn_broad")
    data_set = DATASETS[dataset] if language is None else wikipron(language)
    console.print(f"{data_set.title}\nTerms: {data_set.licence}")
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                # The rate is that of this connection: what was there before does not count.
                tasks[what] = bars.add_task(what, total=total, completed=done)
                if not console.is_terminal:
                    console.print(what)
            bars.update(tasks[what], completed=done, total=total)

        downloaded = download(data_set, output, show)
    if not downloaded.fetched:
        console.print(f"{output} is already complete")
    for name, pairs in downloaded.texts.items():
        console.print(f"{pairs:>12,} pairs  {name}")
    for name, lines in downloaded.left_out.items():
        console.print(f"{name}: {lines:,} lines are not valid UTF-8; empty now, so training leaves them out")
