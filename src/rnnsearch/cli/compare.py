"""`rnnsearch compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    outputs: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Translations of one text by two or more systems, detokenised.")
    ],
    reference: Annotated[
        Path, typer.Option("--reference", "-r", metavar="FILE", help="The references, detokenised, line by line.")
    ],
) -> None:
    """Compare the BLEU of several systems.

    Each BLEU has its 95% interval; the p-values come from paired bootstrap resampling (Koehn 2004).
    """
    from rnnsearch.cli.options import check_inputs

    check_inputs(*outputs, reference)

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
