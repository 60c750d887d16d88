"""`rnnsearch export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import Model


def command(
    model: Model,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the copy.")] = None,
    precision: Annotated[
        Literal["int8", "fp32"],
        typer.Option("--precision", help="How weights are stored: `int8` takes a quarter of the space of `fp32`."),
    ] = "int8",
    onnx: Annotated[
        Path | None,
        typer.Option("--onnx", metavar="FOLDER", help="Where to write ONNX graphs, which need no rnnsearch, instead."),
    ] = None,
) -> None:
    """Write a small copy of a model for sharing.

    The copy has what translating needs, the lexicon, the model card and the record of the training, but no training text
    and no checkpoints. With `int8`, each row of a matrix is stored as integers from -127 to 127 and a scale.

    With `--onnx`, write the encoder, a step of the decoder and the alignment layer as graphs for ONNX Runtime.
    """
    from rnnsearch.cli.options import check_inputs
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.model_files import WEIGHTS
    from rnnsearch.model_folder import check_single, export_model, load_system

    if (output is None) == (onnx is None):
        raise RnnsearchError("export: give one of --output FOLDER, for a copy, and --onnx FOLDER, for graphs")
    check_inputs(models=[model])
    if onnx is not None:
        from rnnsearch.graphs.export import export_graphs

        check_single(model)
        load_system(model)  # finds what is damaged
        export_graphs(model, onnx, precision)
        print(f"{onnx}: {_size(onnx):.1f} MB; README.md says how to use the graphs")
        return
    assert output is not None
    export_model(model, output, precision)
    weights = (output / WEIGHTS).stat().st_size / 1e6
    print(f"{output}: {_size(output):.1f} MB ({weights:.1f} MB of weights); {model} has {_size(model):.1f} MB")


def _size(folder: Path) -> float:
    """The megabytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) / 1e6
