"""`rnnsearch compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    outputs: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Translations of one text by two or more systems, detokenised.")
    ],
    reference: Annotated[
        Path, typer.Option("--reference", "-r", metavar="FILE", help="The references, detokenised, line by line.")
    ],
    units: Annotated[
        Literal["words", "characters", "codepoints", "symbols"],
        typer.Option("--units", help="What lines consist of: error rates are compared too, unless these are words."),
    ] = "words",
) -> None:
    """Compare the BLEU of several systems, or their error rates.

    Each score has its 95% interval; the p-values come from paired bootstrap resampling (Koehn 2004). With --units, they are
    those of the error rates of lines (WER) and of units (SER).
    """
    from rnnsearch.cli.options import check_inputs

    check_inputs(*outputs, reference, printed=True)

    from rich.table import Column, Table

    from rnnsearch.data.lines import read_lines
    from rnnsearch.evaluation.significance import compare
    from rnnsearch.terminal import Terminal

    if units != "words":
        _compare_error_rates(outputs, reference, units)
        return
    comparison = compare({str(path): list(read_lines(path)) for path in outputs}, list(read_lines(reference)))
    table = Table(Column(overflow="fold"), "BLEU", "95%")
    for name in comparison.names:
        table.add_column(f"p against {name}", overflow="fold")
    for name, bleu, interval, p in zip(comparison.names, comparison.bleu, comparison.interval, comparison.p, strict=True):
        chances = ("" if value is None else f"{value:.3f}" for value in p)
        table.add_row(name, f"{bleu:.2f}", f"±{interval:.2f}", *chances)
    console = Terminal()
    console.print(table)
    console.print(f"BLEU: {comparison.signature}", soft_wrap=True)


def _compare_error_rates(
    outputs: list[Path], reference: Path, units: Literal["characters", "codepoints", "symbols"]
) -> None:
    from rich.table import Column, Table

    from rnnsearch.config import DataConfig
    from rnnsearch.data.lines import read_lines
    from rnnsearch.evaluation.error_rates import compare_error_rates, error_rates
    from rnnsearch.terminal import Terminal
    from rnnsearch.text.units import named_units

    cut = named_units(units, DataConfig(), "auto").tokenize
    systems = {str(path): [cut(line) for line in read_lines(path)] for path in outputs}
    references = [cut(line) for line in read_lines(reference)]
    differences = compare_error_rates(systems, references)
    for score in ("wer", "ser"):
        table = Table(Column(overflow="fold"), score.upper(), "95%")
        for name in systems:
            table.add_column(f"p against {name}", overflow="fold")
        for name, lines in systems.items():
            rates = error_rates(lines, references)
            low, high = getattr(rates, f"{score}_interval")
            chances = ("" if other == name else f"{getattr(differences[name, other], score):.3f}" for other in systems)
            table.add_row(name, f"{getattr(rates, score):.2f}", f"{low:.2f}–{high:.2f}", *chances)
        Terminal().print(table)
