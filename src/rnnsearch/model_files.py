"""The files of a model folder: their names, and the settings in one of them. Nothing here imports PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.config import Config, read_json
from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import check_regular

CONFIG = "config.json"
"""The file of a model's folder that holds its settings."""
WEIGHTS = "model.safetensors"
"""The file of a model's folder that holds its weights."""
SCALE = ".scale"
"""A matrix of int8 integers has a vector beside it, under its own name and this, that holds the scales of its rows."""
FURTHER_WEIGHTS = "model-*.safetensors"
"""The files of an ensemble's folder that hold the weights of its other models."""
ALIGNMENT_LAYER = "alignment-layer.safetensors"
"""The file of a model folder that holds its alignment layer, if it has one."""
SHARED = (
    *(CONFIG, WEIGHTS, FURTHER_WEIGHTS, ALIGNMENT_LAYER),
    *("source.vocab", "target.vocab", "source.subwords", "target.subwords"),
    *("lexicon.tsv", "rare-words.tsv", "phrases.tsv", "target.words"),
    *("training.json", "README.md"),
)
"""The files of a model folder that others need: names, and one pattern of names."""


def read_model_config(folder: str | Path) -> Config:
    """Read the settings of the model in a folder. Raises RnnsearchError if there is none."""
    path = Path(folder) / CONFIG
    if not path.exists():
        raise RnnsearchError(f"{folder}: no model here (there is no {CONFIG}); give the --output folder of a training")
    return read_json(path)


def further_weights(folder: Path) -> list[Path]:
    """Return the files with the weights of all models of an ensemble but the first, in the order of their numbers."""
    numbers = {path: path.stem.partition("-")[2] for path in folder.glob(FURTHER_WEIGHTS)}
    numbered = (path for path, number in numbers.items() if number.isascii() and number.isdecimal())
    return sorted(numbered, key=lambda path: int(numbers[path]))


def shared_files(folder: Path) -> list[Path]:
    """Return the files of `SHARED` that a model folder has. Raises RnnsearchError if one of them is no regular file."""
    names = (folder / name for name in SHARED if name != FURTHER_WEIGHTS)
    files = [*(path for path in names if os.path.lexists(path)), *further_weights(folder)]
    check_regular(*files)
    return files
