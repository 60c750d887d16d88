"""Several models of one training text, which differ in their seeds, in one folder that loads as one translator."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import Config
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_members
from rnnsearch.terminal import Terminal
from rnnsearch.training.session import TEXT_FOLDER, Paths, development_set, train
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.training.validation import validate
from rnnsearch.translation.translator import Translator
from rnnsearch.untrusted import read_record

MEMBERS = "members"
"""The folder of the runs of all models but the first, by their numbers."""
RECORD = "training.json"


def train_ensemble(
    output: str | os.PathLike[str],
    config: Config,
    models: int,
    *,
    data: str | os.PathLike[str] | None = None,
    valid_source: Paths = (),
    valid_target: Paths = (),
    resume: bool = False,
    console: Console | None = None,
    **text: Any,
) -> Translator:
    """Train so many models, one after the other, with the seeds `training.seed`, `training.seed` + 1 and so on.

    The arguments are those of `train`. The first model is trained in `output` itself, and the others in `output/members`;
    when one is finished, its weights are copied to `output`. With `resume`, models that are finished stay as they are, so
    that a folder of one model can become an ensemble. Raises RnnsearchError, and Interrupted, as `train` does.
    """
    console = console or Terminal(stderr=True)
    folder = Path(output)
    valid: dict[str, Any] = {"valid_source": valid_source, "valid_target": valid_target}
    if not (resume and (folder / RECORD).exists()):
        _tell(console, 1, models)
        train(folder, config, data=data, **valid, **text, resume=resume, console=console)
    for number in range(2, models + 1):
        weights = folder / f"model-{number}.safetensors"
        if weights.exists():
            continue
        _tell(console, number, models)
        place = folder / MEMBERS / str(number)
        seeded = replace(config, training=replace(config.training, seed=config.training.seed + number - 1))
        same_text = folder / TEXT_FOLDER if data is None else data
        if not (place / RECORD).exists():
            begun = resume and (place / CHECKPOINT).exists()
            train(place, seeded, data=same_text, **valid, start=text.get("start"), resume=begun, console=console)
        with atomic_write(weights) as temporary:
            temporary.write_bytes((place / WEIGHTS).read_bytes())
    systems = load_members(folder)
    development = development_set(valid_source, valid_target, folder / TEXT_FOLDER if data is None else data)
    found = validate(systems, development)
    score = f"BLEU {found.bleu:.2f}" if found.wer is None else f"WER {found.wer:.2f}, SER {found.ser:.2f}"
    console.print(f"{models} models together: dev {score}", highlight=False, soft_wrap=True)
    record = read_record(folder / RECORD)
    scores = {"models": models, "dev_bleu": found.bleu, "dev_wer": found.wer, "dev_ser": found.ser}
    write_json(folder / RECORD, {**record, "ensemble": {key: value for key, value in scores.items() if value is not None}})
    return Translator(systems, folder)


def _tell(console: Console, number: int, models: int) -> None:
    console.print(f"model {number} of {models}", highlight=False)
