"""`rnnsearch adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import ModelToAdapt, check_inputs

_Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", show_default=False, help="The memory of `serve --memory FOLDER`.")
]
_RollBack = Annotated[bool, typer.Option("--roll-back", help="Use the version before the last one again.")]


def command(model: ModelToAdapt, folder: _Folder, roll_back: _RollBack = False) -> None:
    """Train a model further on what is new in a memory.

    A part of the new segments is held out; it is trained on the others and, against forgetting, on as many older ones. If
    the model translates the held-out part no worse than before, it is the new version, and `FOLDER/en-fr`, for these
    languages, is a link to it. A server that has this memory translates with it from then on. All versions are kept. If the
    command is killed, the version before stays in use.
    """
    check_inputs(models=[model])

    from rnnsearch.terminal import Terminal
    from rnnsearch.training.adapt import adapt, versions_of
    from rnnsearch.training.adapt import roll_back as back
    from rnnsearch.training.session import Interrupted

    console = Terminal(stderr=True)
    link = versions_of(model, folder)[0].link
    if roll_back:
        print(f"{link}: {back(model, folder)}")
        return
    try:
        done = adapt(model, folder, console)
    except Interrupted:
        console.print(f"stopped; {link} is as it was")
        raise typer.Exit(130) from None
    print(f"trained on {done.segments:,} new segments and {done.older:,} older ones")
    print(f"on {done.held_out:,} segments that were held out of {done.held_out + done.segments:,} new ones:")
    print(f"before: {done.before}")
    print(f"after:  {done.after}")
    if done.version is None:
        print("it is not better, so nothing has changed")
        raise typer.Exit(1)
    print(f"{link}: {done.version}")
