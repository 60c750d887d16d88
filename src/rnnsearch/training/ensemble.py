"""The training of an ensemble: models that differ only in their seeds, in one folder that loads as one translator."""

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
from rnnsearch.training.run_folder import TEXT_FOLDER
from rnnsearch.training.session import Paths, development_set, train
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.training.validation import validate
from rnnsearch.translation.translator import Translator
from rnnsearch.untrusted import read_record

MEMBERS = "members"
"""The subfolder with the runs of the second and all further models, each in a folder named by its number."""
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
    """Train `models` models, one after another, with the seeds `training.seed`, `training.seed` + 1 and so on.

    The other arguments are those of `train`. The first model is trained in `output` itself, and the others in
    `output/members`; when one of them is finished, its weights are copied to `output`. With `resume`, finished models stay
    as they are, so that a folder with one model can become an ensemble. Raises RnnsearchError and Interrupted, as `train`
    does.
    """
    console = console or Terminal(stderr=True)
    folder = Path(output)
    valid: dict[str, Any] = {"valid_source": valid_source, "valid_target": valid_target}
    if not (resume and (folder / RECORD).exists()):
        _announce(console, 1, models)
        train(folder, config, data=data, **valid, **text, resume=resume, console=console)
    for number in range(2, models + 1):
        weights = folder / f"model-{number}.safetensors"
        if weights.exists():
            continue
        _announce(console, number, models)
        run = folder / MEMBERS / str(number)
        seeded = replace(config, training=replace(config.training, seed=config.training.seed + number - 1))
        same_text = folder / TEXT_FOLDER if data is None else data
        if not (run / RECORD).exists():
            resume_run = resume and (run / CHECKPOINT).exists()
            train(run, seeded, data=same_text, **valid, start=text.get("start"), resume=resume_run, console=console)
        with atomic_write(weights) as temporary:
            temporary.write_bytes((run / WEIGHTS).read_bytes())
    systems = load_members(folder)
    development = development_set(valid_source, valid_target, folder / TEXT_FOLDER if data is None else data)
    dev = validate(systems, development)
    score = f"BLEU {dev.bleu:.2f}" if dev.wer is None else f"WER {dev.wer:.2f}, SER {dev.ser:.2f}"
    console.print(f"{models} models together: dev {score}", highlight=False, soft_wrap=True)
    record = read_record(folder / RECORD)
    scores = {"models": models, "dev_bleu": dev.bleu, "dev_wer": dev.wer, "dev_ser": dev.ser}
    write_json(folder / RECORD, {**record, "ensemble": {key: value for key, value in scores.items() if value is not None}})
    return Translator(systems, folder)


def _announce(console: Console, number: int, models: int) -> None:
    console.print(f"model {number} of {models}", highlight=False)
