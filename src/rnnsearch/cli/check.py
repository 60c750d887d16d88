"""`rnnsearch check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rnnsearch.checking import Report

_File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="A Python file with functions of the model.", show_default=False)
]
_Template = Annotated[
    Literal["numpy", "torch"] | None,
    typer.Option("--template", help="Print a file to begin with, whose functions are still to be written, and end."),
]
_Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Draw the weights and inputs with this seed; a teacher keeps it secret.")
]
_Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="The time that the file's process may take.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the findings as JSON, not as a table.")]
_JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Also write the findings as JUnit XML, for autograders.")
]


def command(
    file: _File = None,
    template: _Template = None,
    seed: _Seed = 1,
    timeout: _Timeout = 60.0,
    json: _Json = False,
    junit: _JUnit = None,
) -> None:
    """Compare your own model with the equations of the paper.

    The functions of the file, in NumPy or PyTorch, get the same weights and inputs as a reference in float64. A table tells
    which equations agree. For one that differs, it tells where the difference begins, and which known mistake gives the same
    numbers. The file is run in a process of its own.

    The exit status is 0 if all functions that are there agree, 1 if one does not, and 2 if the file cannot be used.
    """
    from rnnsearch.cli.options import check_inputs
    from rnnsearch.errors import RnnsearchError

    if (file is None) == (template is None):
        raise RnnsearchError("check: give one of FILE, to check it, and --template numpy or torch, for a file to begin with")
    if template is not None:
        from rnnsearch.checking import template as template_of

        print(template_of(template), end="")
        return
    assert file is not None
    check_inputs(file, outputs=[junit], printed=True)

    from rnnsearch.checking import check

    report = check(file, seed, timeout)
    if junit is not None:
        from rnnsearch.jobs.output import written

        with written(junit) as out:
            out.write(report.to_junit())
    if json:
        from json import dumps

        print(dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        _print_table(report)
    raise typer.Exit(0 if report.agrees else 1)


def _print_table(report: Report) -> None:
    from rich.table import Column, Table

    from rnnsearch.terminal import Terminal

    console = Terminal()
    columns = (Column(name, no_wrap=True) for name in ("equation", "in the paper", "result"))
    table = Table(*columns, Column("where, and why", overflow="fold"))
    for finding in report.findings:
        explanation = "\n".join(filter(None, [finding.where, *finding.lines, finding.explanation]))
        table.add_row(finding.equation, finding.place, finding.verdict, explanation)
    console.print(table)
    if (first := report.first) is not None:
        console.print(f"The first to mend: {first.equation}, {first.formula}", soft_wrap=True)
