"""`rnnsearch demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import ConfigFile, Set, settings


def command(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write everything.")] = Path(
        "rnnsearch-demo"
    ),
    pairs: Annotated[int, typer.Option("--pairs", min=100, help="Number of sentence pairs to train on.")] = 60000,
    config: ConfigFile = None,
    set_: Set = None,
) -> None:
    """Train a small model in about five minutes.

    No data and no network are needed: the built-in English–French corpus comes with the package, gold word alignments
    included. The command writes a page with scores, translations and alignments. If it is stopped, the same command
    continues.
    """
    wanted = settings("demo", config, set_)

    from rich.console import Console
    from rich.markup import escape

    from rnnsearch.experiments.demo import next_steps, run_demo
    from rnnsearch.training.session import Interrupted

    console = Console(highlight=False)
    try:
        demo = run_demo(output, wanted, pairs, console)
    except Interrupted as stop:
        console.print(f"{stop}. To continue the demonstration, run the same command again.", markup=False)
        raise typer.Exit(130) from None
    score = demo.evaluation.all
    console.print(f"\n[bold]BLEU {score.bleu:.2f}[/] on {score.sentences} test sentences")
    console.print(f"     {score.bleu_signature}", style="dim", markup=False)
    if demo.alignment:
        console.print(
            f"[bold]AER  {demo.alignment.aer:.3f}[/] against the grammar's own word alignments "
            f"(precision {demo.alignment.precision:.3f}, recall {demo.alignment.recall:.3f})"
        )
    for sample in demo.shown[:4]:
        console.print(f"\n  English    {escape(sample.source)}")
        console.print(f"  [bold]rnnsearch  {escape(sample.translation.text)}[/]")
        console.print(f"  reference  {escape(sample.reference)}", style="dim")
    console.print("\nWhat each word attends to:")
    for path in [demo.page, *demo.heat_maps]:
        console.print(f"  {path}", markup=False)
    console.print("\nTry next:")
    for step in next_steps(output):
        console.print(f"  {step}", markup=False, style="dim" if step.startswith("#") else "bold", soft_wrap=True)
