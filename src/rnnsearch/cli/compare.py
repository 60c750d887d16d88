"""`rnnsearch compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    outputs: Annotated[list[Path], typer.Argument(help="Translations of one text by two systems or more, untokenised.")],
    reference: Annotated[Path, typer.Option("--reference", "-r", help="Its reference translations, untokenised.")],
) -> None:
    """Is one system better than another? BLEU of each with its 95% interval, and p-values by paired bootstrap."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    from rnnsearch.data.read import read_lines
    from rnnsearch.evaluation.significance import compare

    found = compare({str(path): list(read_lines(path)) for path in outputs}, list(read_lines(reference)))
    table = Table(Column(overflow="fold"), "BLEU", "95%")
    for name in found.names:
        table.add_column(f"p against {escape(name)}", overflow="fold")
    for name, bleu, interval, p in zip(found.names, found.bleu, found.interval, found.p, strict=True):
        chances = ("" if value is None else f"{value:.3f}" for value in p)
        table.add_row(escape(name), f"{bleu:.2f}", f"±{interval:.2f}", *chances)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"BLEU: {found.signature}", markup=False, soft_wrap=True)
