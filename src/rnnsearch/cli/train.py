"""`rnnsearch train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import ConfigFile, Links, Preset, Set, refuse_settings, settings
from rnnsearch.config import parse_assignments


def command(
    valid_source: Annotated[Path, typer.Option("--valid-source", help="Development set, source side.")],
    valid_target: Annotated[Path, typer.Option("--valid-target", help="Development set, target side.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the model to be.")],
    source: Annotated[
        list[Path] | None, typer.Option("--source", "-s", help="Source text, a sentence a line; may be repeated.")
    ] = None,
    target: Annotated[
        list[Path] | None, typer.Option("--target", "-t", help="Its translation, line by line; may be repeated.")
    ] = None,
    links: Links = None,
    data: Annotated[Path | None, typer.Option("--data", help="A folder made by `prepare`, in place of raw text.")] = None,
    start: Annotated[
        Path | None, typer.Option("--from", metavar="MODEL", help="Start from a trained model's weights, on this text.")
    ] = None,
    preset: Preset = "small",
    config: ConfigFile = None,
    set_: Set = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the output folder, exactly where it stopped.")
    ] = False,
) -> None:
    """Train a translator on parallel text.

    Ctrl-C saves and stops; the same command with `--resume` goes on. The best model by development score is in the output
    folder at any time, ready for `translate`. Curves: `tensorboard --logdir OUTPUT/tensorboard`.
    """
    if data is not None and (source or target or links):
        raise typer.BadParameter("give either --data, or --source and --target (and --links)")
    if data is None and not (source and target):
        raise typer.BadParameter("give --source and --target, or a prepared --data folder")
    if data is not None and "data" in parse_assignments(set_ or []):
        raise typer.BadParameter("with --data, the text is prepared already: give data.* settings to `prepare`")
    wanted = settings(preset, config, set_)
    if start is not None:
        refuse_settings(set_, wanted, ("data", "model"), "--from", start)

    from rich.console import Console

    from rnnsearch.training.session import Interrupted, train

    console = Console(stderr=True)
    try:
        train(
            output,
            wanted,
            sources=source or [],
            targets=target or [],
            links=links or [],
            data=data,
            valid_source=valid_source,
            valid_target=valid_target,
            start=start,
            resume=resume,
            console=console,
        )
    except Interrupted as stop:
        console.print(str(stop), highlight=False, markup=False)
        raise typer.Exit(130) from None
    for step in (
        f"Try it:    echo 'a sentence' | rnnsearch translate --model {output}",
        f"Score it:  rnnsearch evaluate --model {output} --source test.source --reference test.target",
    ):
        console.print(step, highlight=False, markup=False, soft_wrap=True)
