"""`rnnsearch average`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    model: Annotated[list[Path], typer.Option("--model", "-m", help="The folder of a trained model; give several.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model folder to write.")],
) -> None:
    """Make one model of several that come of one training: its weights are the mean of theirs.

    For copies of a model saved at several times, or trained further (`train --from`) on different text. Models that began
    with different random weights have nothing to average: translate with them as an ensemble instead.
    """
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.training.average import average_models

    if len(model) < 2:
        raise RnnsearchError("one model is its own average: give --model several times")
    average_models(model, output)
    print(f"{output}: the mean of {len(model)} models")
