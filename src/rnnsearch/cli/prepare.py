"""`rnnsearch prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import ConfigFile, Links, Preset, Set, refuse_settings, settings


def command(
    source: Annotated[list[Path], typer.Option("--source", "-s", help="Source text, a sentence a line; may be repeated.")],
    target: Annotated[list[Path], typer.Option("--target", "-t", help="Its translation, line by line; may be repeated.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    links: Links = None,
    vocabulary_of: Annotated[
        Path | None,
        typer.Option("--vocabulary-of", metavar="MODEL", help="Use a model's vocabularies, to train it further."),
    ] = None,
    preset: Preset = "small",
    config: ConfigFile = None,
    set_: Set = None,
) -> None:
    """Tokenise, clean, shuffle and pack parallel text, ready for `train --data`.

    Files may be plain, .gz or .xz, in UTF-8. `train` does all this by itself when it is given raw text; do it beforehand
    to use the same text for several trainings. What counts as clean is in the settings `data.*`.
    """
    from rich.console import Console

    from rnnsearch.data.prepare import prepare
    from rnnsearch.model_folder import load_system

    console = Console(stderr=True)
    asked = settings(preset, config, set_)
    wanted, vocabularies = asked.data, None
    if vocabulary_of is not None:
        refuse_settings(set_, asked, ("data",), "--vocabulary-of", vocabulary_of)
        model = load_system(vocabulary_of)
        wanted, vocabularies = model.config.data, (model.source_vocabulary, model.target_vocabulary)
    with console.status("preparing") as status:
        prepared = prepare(
            source,
            target,
            output,
            wanted,
            links=links or [],
            vocabularies=vocabularies,
            progress=lambda stage, pairs: status.update(f"{stage}: {pairs:,} pairs"),
        )
    for line in prepared.summary():
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"Prepared in {output}; train with --data {output}", highlight=False, markup=False)
