"""`rnnsearch reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    scale: Annotated[
        Literal["builtin", "multi30k", "files", "wmt14"],
        typer.Option(
            help="`builtin`: the built-in corpus, 40 minutes on two CPU cores; `multi30k`: captions, an afternoon; `files`: "
            "any parallel text, likewise; `wmt14`: the paper's sizes, a GPU and days."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    source: Annotated[
        list[Path] | None, typer.Option("--source", "-s", help="Training text, source side; may be repeated.")
    ] = None,
    target: Annotated[
        list[Path] | None, typer.Option("--target", "-t", help="Training text, target side; may be repeated.")
    ] = None,
    valid_source: Annotated[Path | None, typer.Option("--valid-source", help="Development set, source side.")] = None,
    valid_target: Annotated[Path | None, typer.Option("--valid-target", help="Development set, target side.")] = None,
    test_source: Annotated[Path | None, typer.Option("--test-source", help="Test set, source side.")] = None,
    test_target: Annotated[Path | None, typer.Option("--test-target", help="Test set, its reference translations.")] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="NAME=FILE", help="Another system's translation of the test set; may be repeated."),
    ] = None,
    budget_hours: Annotated[
        float | None, typer.Option("--budget-hours", min=0.001, help="Training time, all systems together.")
    ] = None,
) -> None:
    """The paper's experiments: train its five systems, fill its tables, draw its figures, check its claims.

    Writes OUTPUT/index.html, the figures, and results.json. Stopped or killed at any point, the same command goes on.
    """
    import shlex
    import sys

    from rich.console import Console

    from rnnsearch.errors import RnnsearchError
    from rnnsearch.experiments.experiment import Text, make_experiment
    from rnnsearch.experiments.layout import Layout
    from rnnsearch.experiments.reproduce import Reproduction
    from rnnsearch.training.session import Interrupted

    text = None
    if any((source, target, valid_source, valid_target, test_source, test_target)):
        if not (source and target and valid_source and valid_target and test_source and test_target):
            raise RnnsearchError(
                "the text is not whole: give --source and --target, --valid-source and --valid-target, --test-source and "
                "--test-target"
            )
        text = Text(tuple(source), tuple(target), valid_source, valid_target, test_source, test_target)
    outside = {}
    for given in system or []:
        name, equals, path = given.partition("=")
        if not (name and equals and path):
            raise RnnsearchError(f"--system {given}: give a name and a file, as in --system Moses=moses.fr")
        outside[name] = Path(path)
    console = Console(highlight=False)
    reproduction = Reproduction(
        make_experiment(scale, output, text, budget_hours),
        Layout(output),
        console,
        shlex.join(["rnnsearch", *sys.argv[1:]]),
        outside,
    )
    try:
        results = reproduction.run()
    except Interrupted as stop:
        console.print(f"{stop}. Here, no --resume is needed: run the same command again.", markup=False, soft_wrap=True)
        raise typer.Exit(130) from None
    for claim in results.claims:
        verdict = {True: "holds", False: "does not hold", None: "cannot be said"}[claim.held]
        console.print(f"\n[bold]{claim.statement}: {verdict}[/]", soft_wrap=True)
        for figure in claim.figures:
            console.print(f"  {figure}", markup=False, soft_wrap=True)
    console.print(f"\n{output / 'index.html'}", markup=False, soft_wrap=True)
