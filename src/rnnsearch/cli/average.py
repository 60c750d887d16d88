"""`rnnsearch average`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import check_inputs, model_option
from rnnsearch.errors import RnnsearchError


def command(
    model: Annotated[list[Path], model_option("A model; give at least two.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write it.")],
) -> None:
    """Average the weights of models from one training run.

    Use it for copies of a model saved at different times, or fine-tuned (`train --from`) on different text. Models that
    started from different random weights cannot be averaged: use them as an ensemble instead.
    """
    from rnnsearch.training.average import average_models

    if len(model) < 2:
        raise RnnsearchError(f"{model[0]} is the only model: give --model at least twice")
    check_inputs(models=model, folders=[output])
    average_models(model, output)
    print(f"{output}: the average of {len(model)} models")
