"""`rnnsearch prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rnnsearch.cli.options import (
    ConfigFile,
    HoldOut,
    Languages,
    Links,
    Preset,
    Set,
    Sources,
    Tables,
    Targets,
    TrainingFiles,
    check_inputs,
    count_pairs,
    files_of,
    model_option,
    preset_of,
    refuse_settings,
    settings,
    with_languages,
)
from rnnsearch.errors import RnnsearchError
from rnnsearch.extras import require

if TYPE_CHECKING:
    from rnnsearch.config import DataConfig
    from rnnsearch.text import Vocabularies

_Output = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the data.")]
_VocabularyOf = Annotated[
    Path | None,
    model_option("A trained model to fine-tune: use its vocabularies.", "--vocabulary-of"),
]
_Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Number of processes; the output does not depend on it. By default one for each core, 16 at most.",
    ),
]


def command(
    output: _Output,
    files: TrainingFiles = None,
    source: Sources = None,
    target: Targets = None,
    tsv: Tables = None,
    languages: Languages = None,
    links: Links = None,
    hold_out: HoldOut = 0,
    vocabulary_of: _VocabularyOf = None,
    jobs: _Jobs = None,
    preset: Preset = None,
    config: ConfigFile = None,
    set_: Set = None,
) -> None:
    """Tokenise, clean and pack parallel text for `train --data`.

    Files are in UTF-8, compressed or not. `train` does all of this itself when it is given raw text; prepare the text
    beforehand to use it in several trainings. The settings `data.*` say what counts as clean. A run that was killed goes on
    where it was.
    """
    both = [*files_of(files), *(tsv or [])]
    source, target, set_ = [*(source or []), *both], [*(target or []), *both], with_languages(languages, set_)
    if not (source and target):
        raise RnnsearchError("there is nothing to prepare: give FILE, or --source and --target")
    require("pyarrow")  # before the text is read
    inputs = [*source, *(file for file in target if file not in source), *(links or [])]
    check_inputs(*inputs, models=[vocabulary_of], folders=[output], again=source + target if hold_out else [])
    preset = preset_of(preset, source, target)
    chosen = settings(preset, config, set_, count_pairs(preset, source, target, set_), again=vocabulary_of is not None)

    from rnnsearch.alignment import learned_links
    from rnnsearch.data.prepare import prepare
    from rnnsearch.model_files import read_model_config
    from rnnsearch.terminal import Terminal

    console = Terminal(stderr=True)
    data, vocabularies = chosen.data, None
    if vocabulary_of is not None:
        refuse_settings(config, set_, chosen, read_model_config(vocabulary_of), ["data"], f"--vocabulary-of {vocabulary_of}")
        data, vocabularies = _of_model(vocabulary_of)
    with console.status("preparing") as status:
        prepared = prepare(
            source,
            target,
            output,
            data,
            links=links or [],
            hold_out=hold_out,
            vocabularies=vocabularies,
            processes=jobs,
            aligner=learned_links,
            progress=lambda stage, pairs: status.update(f"{stage}: {pairs:,} pairs"),
        )
    for line in prepared.summary():
        console.print(line, soft_wrap=True)
    console.print(f"Prepared in {output}; train with --data {output}")


def _of_model(folder: Path) -> tuple[DataConfig, Vocabularies]:
    """The settings of the data that a model was trained on, and its vocabularies."""
    from rnnsearch.model_folder import load_system

    system = load_system(folder)
    return system.config.data, system.vocabularies
