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
    demo_settings = settings("demo", config, set_)

    from rich.text import Text

    from rnnsearch.experiments.demo import next_steps, run_demo
    from rnnsearch.terminal import Terminal
    from rnnsearch.training.session import Interrupted

    console = Terminal()
    try:
        demo = run_demo(output, demo_settings, pairs, console)
    except Interrupted as stop:
        console.print(f"{stop}. To continue the demonstration, run the same command again.")
        raise typer.Exit(130) from None
    score = demo.evaluation.all
    console.print(Text.assemble((f"\nBLEU {score.bleu:.2f}", "bold"), f" on {score.sentences} test sentences"))
    console.print(f"     {score.bleu_signature}", style="dim")
    if demo.alignment:
        console.print(
            Text.assemble(
                (f"AER  {demo.alignment.aer:.3f}", "bold"),
                " against the grammar's own word alignments "
                f"(precision {demo.alignment.precision:.3f}, recall {demo.alignment.recall:.3f})",
            )
        )
    for sample in demo.shown[:4]:
        console.print(f"\n  English    {sample.source_text}")
        console.print(f"  rnnsearch  {sample.translation_text}", style="bold")
        console.print(f"  reference  {sample.others['Reference']}", style="dim")
    console.print("\nWhat each word attends to:")
    for path in [demo.page, *demo.heat_maps]:
        console.print(f"  {path}")
    console.print("\nTry next:")
    for step in next_steps(output):
        console.print(f"  {step}", style="dim" if step.startswith("#") else "bold", soft_wrap=True)
