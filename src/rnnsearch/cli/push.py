"""`rnnsearch push`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    model: Annotated[Path, typer.Option("--model", "-m", metavar="FOLDER", help="The model to upload.")],
    name: Annotated[str, typer.Argument(metavar="USER/NAME", help="Its name on the Hub.")],
    private: Annotated[bool, typer.Option("--private", help="Create it as a private model.")] = False,
) -> None:
    """Upload a model to the Hugging Face Hub.

    The weights, vocabularies, settings, lexicon, model card and record of the training are uploaded, and no text. Others can
    then give the name wherever a command takes a model, as in `rnnsearch translate --model USER/NAME`. Log in with
    `hf auth login` first. `rnnsearch export` makes a copy with int8 weights, which is a quarter of the size.
    """
    from rnnsearch.hub import push_model

    print(push_model(model, name, private))
