"""`rnnsearch export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import Model


def command(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the copy.")],
    precision: Annotated[
        Literal["int8", "fp32"],
        typer.Option("--precision", help="How weights are stored: `int8` takes a quarter of the space of `fp32`."),
    ] = "int8",
) -> None:
    """Write a small copy of a model for sharing.

    The copy has what translating needs, the lexicon, the model card and the record of the training, but no training text
    and no checkpoints. With `int8`, each row of a matrix is stored as integers from -127 to 127 and a scale.
    """
    from rnnsearch.cli.options import check_inputs
    from rnnsearch.model_files import WEIGHTS
    from rnnsearch.model_folder import export_model

    check_inputs(models=[model])
    export_model(model, output, precision)
    sizes = [sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) / 1e6 for folder in (model, output)]
    weights = (output / WEIGHTS).stat().st_size / 1e6
    print(f"{output}: {sizes[1]:.1f} MB ({weights:.1f} MB of weights); {model} has {sizes[0]:.1f} MB")
