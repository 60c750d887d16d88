"""`rnnsearch models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import check_inputs
from rnnsearch.errors import RnnsearchError, printable


def command(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="A folder whose models are listed too.", show_default=False)
    ] = None,
) -> None:
    """List the models that are installed, and those in a folder.

    A model that is installed is given by its name, as in `rnnsearch translate --model en-fr`, the others by their folders.
    Of a model that cannot be read, the reason is shown.
    """
    from rich.table import Table

    from rnnsearch.model_catalog import BOX, UnreadableModel, models_in
    from rnnsearch.terminal import Terminal

    check_inputs(printed=True)
    if folder is not None and not folder.is_dir():
        raise RnnsearchError(f"{folder}: no such folder")
    table = Table()
    table.add_column("model", overflow="fold")
    for name in ("translates", "kind", "weights", "size", "dev score"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("translates", "kind") else "right")
    unreadable: list[UnreadableModel] = []
    for place in (BOX, folder):
        for model in models_in(place) if place else ():
            if isinstance(model, UnreadableModel):
                unreadable.append(model)
                continue
            table.add_row(
                printable(model.folder.name if place == BOX else str(model.folder)),
                printable(f"{_short(model.source_language)} → {_short(model.target_language)}"),
                model.kind,
                f"{model.parameters / 1e6:.1f} M {model.precision}",
                f"{model.megabytes:.1f} MB",
                model.dev_score,
            )
    if not table.row_count and not unreadable:
        print("There are no models here. `rnnsearch train` makes one; `rnnsearch models FOLDER` lists those in a folder.")
        return
    terminal = Terminal()
    if table.row_count:
        terminal.print(table)
    for model in unreadable:
        terminal.print(f"unreadable: {model.reason}", soft_wrap=True)


def _short(language: str) -> str:
    return language if len(language) <= 20 else f"{language[:19]}…"
