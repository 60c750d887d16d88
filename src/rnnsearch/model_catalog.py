"""Models by name: bundled models, which are installed with the package, models in folders, and models on the Hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from safetensors import SafetensorError, safe_open

from rnnsearch.errors import RnnsearchError
from rnnsearch.hub import download_model
from rnnsearch.model_files import CONFIG, SCALE, WEIGHTS, further_weights, read_model_config, shared_files
from rnnsearch.untrusted import check_header, read_record

BOX = Path(__file__).parent / "box"
"""The folder of the bundled models."""
DEFAULT = "en-fr"
"""The bundled model that translates if no model is named."""
TRANSLATORS = {DEFAULT: "English into French", "fr-en": "French into English"}
"""The bundled models that translate, with their languages."""
PRONOUNCER = "en-ipa"
"""The bundled model that pronounces if no model is named."""


@dataclass(frozen=True)
class ModelSummary:
    """A summary of a model folder."""

    folder: Path
    source_language: str
    target_language: str
    kind: str
    """`RNNsearch` or `RNNencdec`; for an ensemble, with the number of its models in front."""
    parameters: int
    precision: str
    """The precision of the stored weights: `int8` or `fp32`."""
    megabytes: float
    """The size of the files that are needed to translate and of those that describe the model, in megabytes."""
    dev_score: str
    """The score on the development set, such as `BLEU 31.2` or `WER 43.0%`; empty if the folder has no record of it."""


def model_folder(name: str | os.PathLike[str]) -> Path:
    """Return the folder of a model: a folder with this name, a bundled model, or a model that is downloaded from the Hub.

    The first of these that exists is taken. Names such as `en-fr` are those of bundled models, and names such as `user/name`
    are those of models on the Hub. A name of any other form is returned as a folder, and reading it will report that it does
    not exist. Raises RnnsearchError if the Hub has no such model or cannot be reached.
    """
    folder = Path(name)
    if folder.exists() or not isinstance(name, str):
        return folder
    if (BOX / folder.name / CONFIG).exists() and name == folder.name:
        return BOX / name
    return download_model(name) or folder


def default_model(name: str = DEFAULT) -> Path:
    """Return the folder of the bundled model `name`. Raises RnnsearchError if the installation lacks it."""
    if not (BOX / name / CONFIG).exists():
        raise RnnsearchError(f"no model {name} is installed with this package; give one, as in --model FOLDER")
    return BOX / name


def translator_from(language: str | None) -> Path:
    """Return the bundled model that translates from this language, or the default model if there is none."""
    return default_model(next((name for name in TRANSLATORS if name.partition("-")[0] == language), DEFAULT))


@dataclass(frozen=True)
class UnreadableModel:
    """A folder with settings and weights that cannot be read, and the reason."""

    folder: Path
    reason: str


def models_in(folder: Path) -> Iterator[ModelSummary | UnreadableModel]:
    """Yield summaries of the model in `folder` and of those in its subfolders, sorted by name.

    Folders without settings or weights are skipped.
    """
    for path in sorted([folder, *(path for path in folder.iterdir() if path.is_dir())]) if folder.is_dir() else ():
        if os.path.lexists(path / CONFIG) and os.path.lexists(path / WEIGHTS):
            try:
                yield summarize(path)
            except RnnsearchError as error:
                yield UnreadableModel(path, str(error))
            except OSError as error:
                yield UnreadableModel(path, f"{path}: {error.strerror}")


def summarize(folder: Path) -> ModelSummary:
    """Return the summary of a model without loading it. Raises RnnsearchError or OSError if it is incomplete or damaged."""
    config = read_model_config(folder)
    weights = [folder / WEIGHTS, *further_weights(folder)]
    try:
        check_header(weights[0])
        with safe_open(weights[0], framework="numpy") as file:
            tensors = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
            parameters = sum(prod(tensor.get_shape()) for name, tensor in tensors.items() if not name.endswith(SCALE))
            quantized = any(tensor.get_dtype() == "I8" for tensor in tensors.values())
    except (SafetensorError, UnicodeEncodeError) as error:
        raise RnnsearchError(f"{weights[0]}: not a whole safetensors file ({error})") from None
    kind = "RNNencdec" if config.model.alignment == "none" else "RNNsearch"
    return ModelSummary(
        folder,
        config.data.source_name,
        config.data.target_name,
        kind if len(weights) == 1 else f"{len(weights)} {kind}",
        len(weights) * parameters,
        "int8" if quantized else "fp32",
        sum(path.stat().st_size for path in shared_files(folder)) / 1e6,
        _dev_score(folder),
    )


def _dev_score(folder: Path) -> str:
    """Return the score on the development set from the record of the training, or an empty string."""
    record = read_record(folder / "training.json")
    scores = {name: record[name] for name in ("dev_wer", "dev_bleu") if isinstance(record.get(name), float | int)}
    if "dev_wer" in scores:
        return f"WER {scores['dev_wer']:.1f}%"
    return f"BLEU {scores['dev_bleu']:.1f}" if "dev_bleu" in scores else ""
