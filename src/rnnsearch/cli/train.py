"""`rnnsearch train`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    ValidSources,
    ValidTables,
    ValidTargets,
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
    from rnnsearch.config import Config

_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        show_default=False,
        help="Where to write the model; by default, in a folder with the name of the languages, such as en-fr.",
    ),
]
_Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Data written by `prepare`, instead of --source and --target."),
]
_Start = Annotated[Path | None, model_option("A trained model to start from (fine-tuning).", "--from")]
_Processes = Annotated[
    int,
    typer.Option(
        "--processes",
        min=1,
        metavar="N",
        help="Train in so many processes on this machine, which share its cores; see `training.shards`.",
    ),
]
_Models = Annotated[
    int,
    typer.Option(
        "--models", min=1, metavar="N", help="Train so many models, of different seeds; the folder is one translator."
    ),
]
_Resume = Annotated[bool, typer.Option("--resume", help="Continue the run in the output folder exactly where it stopped.")]


def command(
    files: TrainingFiles = None,
    output: _Output = None,
    source: Sources = None,
    target: Targets = None,
    tsv: Tables = None,
    languages: Languages = None,
    valid_source: ValidSources = None,
    valid_target: ValidTargets = None,
    valid_tsv: ValidTables = None,
    hold_out: HoldOut = None,
    links: Links = None,
    data: _Data = None,
    start: _Start = None,
    preset: Preset = None,
    config: ConfigFile = None,
    set_: Set = None,
    processes: _Processes = 1,
    models: _Models = 1,
    resume: _Resume = False,
) -> None:
    """Train a translation model on parallel text.

    FILE has both sides, such as a translation memory; --source and --target are files of lines, or of messages with keys.
    The development set decides which model is the best one and when to stop: give files for it, or pairs are held out of the
    training text, which are then written to `data/held-out.source` and `data/held-out.target` in the output folder.

    Ctrl-C writes a checkpoint and stops; the same command with `--resume` continues. The output folder holds the best model
    so far at any time, ready for `translate`. To watch the curves, run `tensorboard --logdir OUTPUT/tensorboard`.

    Several processes end at the same weights as one, bit for bit. For several machines, or as many GPUs, start the command
    with `torchrun … -m rnnsearch train …`. With --models, every word has the mean probability of all models; --resume also
    adds models to a folder.
    """
    # A file with both sides is both source and target.
    both = [*files_of(files), *(tsv or [])]
    source, target, set_ = [*(source or []), *both], [*(target or []), *both], with_languages(languages, set_)
    if data is not None and (source or target or links):
        raise RnnsearchError("give either --data, or FILE or --source and --target (and --links), not both")
    if data is None and not (source and target):
        raise RnnsearchError("there is nothing to train on: give FILE, --source and --target, or --data FOLDER")
    text: dict[str, Any] = {
        "sources": source,
        "targets": target,
        "links": links or [],
        "data": data,
        "hold_out": hold_out,
        "start": start,
    }
    text["valid_source"], text["valid_target"] = ([*(one or []), *(valid_tsv or [])] for one in (valid_source, valid_target))
    require("torch")  # before the text is read
    # Several processes read the settings and the development set each, and may have to begin again.
    several = processes > 1 or models > 1 or "WORLD_SIZE" in os.environ
    preset = preset_of(preset, source, target)
    pairs = count_pairs(preset, source, target, set_, data)
    again = several or data is not None or start is not None
    configuration = settings(preset, config, set_, pairs, again, further=start is not None)
    _check(configuration, config, set_, several, **text)
    output = output or _named_after(configuration, source, target)
    _launch(configuration, processes, models)
    _train(output, configuration, models, resume, text)


def _check(
    configuration: Config,
    config: Path | None,
    set_: list[str] | None,
    several: bool,
    *,
    sources: list[Path],
    targets: list[Path],
    links: list[Path],
    data: Path | None,
    valid_source: list[Path],
    valid_target: list[Path],
    hold_out: int | None,
    start: Path | None,
) -> None:
    """Raises RnnsearchError for files that cannot be read, and for settings that the data or the model to start from fix."""
    from rnnsearch.config import from_dict
    from rnnsearch.data.development import check_development_set
    from rnnsearch.data.prepared import prepared_info
    from rnnsearch.model_files import read_model_config

    check_development_set(valid_source, valid_target, hold_out, data)
    check_inputs(
        *sources,
        *(file for file in targets if file not in sources),
        *links,
        *valid_source,
        *(file for file in valid_target if file not in valid_source),
        again=[
            *(sources + targets if hold_out or several or (hold_out is None and not valid_source) else []),
            *(links if several else []),
            *(valid_source + valid_target if several else []),
        ],
    )
    if data is not None:
        prepared_with = from_dict({"data": prepared_info(data)["data"]})
        refuse_settings(config, set_, configuration, prepared_with, ["data"], f"--data {data}, which `prepare` has written,")
    if start is not None:
        refuse_settings(config, set_, configuration, read_model_config(start), ["data", "model"], f"--from {start}")


def _named_after(configuration: Config, sources: list[Path], targets: list[Path]) -> Path:
    """A folder with the name of the two languages."""
    from rnnsearch.data.prepare import with_languages as with_known_languages

    if not sources:
        raise RnnsearchError("--output FOLDER says where to write the model; with --data, it has to be given")
    data = with_known_languages(configuration.data, sources, targets)
    return Path(f"{data.source_language}-{data.target_language}")


def _launch(configuration: Config, processes: int, models: int) -> None:
    """Trains in several processes, where they are asked for and this is none of them, and exits."""
    from rnnsearch.training.processes import check_shards, under_torchrun

    if models > 1 and (processes > 1 or under_torchrun()):
        raise RnnsearchError("--models trains one model after the other; leave --processes out, or train them one by one")
    if processes > 1 and not under_torchrun():
        check_shards(configuration.training, processes)

        from rnnsearch.training.launch import launch

        raise typer.Exit(launch(processes, sys.argv[1:]))


def _train(output: Path, configuration: Config, models: int, resume: bool, text: dict[str, Any]) -> None:
    """Trains one model, or several one after the other, and says what to do with them."""
    from rnnsearch.terminal import Terminal
    from rnnsearch.training.ensemble import train_ensemble
    from rnnsearch.training.processes import rank
    from rnnsearch.training.session import Interrupted, train

    console = Terminal(stderr=True, quiet=rank() > 0)
    try:
        if models == 1:
            train(output, configuration, **text, resume=resume, console=console)
        else:
            train_ensemble(output, configuration, **text, models=models, resume=resume, console=console)
    except Interrupted as stop:
        console.print(str(stop))
        raise typer.Exit(130) from None
    except RnnsearchError as error:
        if rank() > 0:
            raise RnnsearchError(f"training process {rank()}: {error}") from None
        raise
    for step in (
        f"Try it:    echo 'a sentence' | rnnsearch translate --model {output}",
        f"Score it:  rnnsearch evaluate --model {output} --source test.source --reference test.target",
    ):
        console.print(step, soft_wrap=True)
