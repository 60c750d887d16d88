"""Models by name: those in the box, which are installed with the package, those in folders, and those on the Hub."""

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
"""The folder of the models that are installed with the package."""
DEFAULT = "en-fr"
"""The model in the box that translates where none is named."""
TRANSLATORS = {DEFAULT: "English into French", "fr-en": "French into English"}
"""The models in the box that translate between languages, and what they translate."""
PRONOUNCER = "en-ipa"
"""The model in the box that pronounces where none is named."""


@dataclass(frozen=True)
class ModelSummary:
    """A model folder at a glance."""

    folder: Path
    source_language: str
    target_language: str
    kind: str
    """`RNNsearch` or `RNNencdec`, after the number of models of an ensemble."""
    parameters: int
    precision: str
    """How the weights are stored: `int8` or `fp32`."""
    megabytes: float
    """The size of the files that translating needs, and of those that describe the model."""
    dev_score: str
    """The score on the development set that the model was chosen by, as in `BLEU 31.2` or `WER 43.0%`; empty where the
    folder has no record of it."""


def model_folder(name: str | os.PathLike[str]) -> Path:
    """The folder of a model: a folder of this name, or else a model in the box, or else one on the Hub, copied from there.

    A name such as `en-fr` is one in the box, and one such as `user/name` is one on the Hub. Where there is nothing of the
    name, it is taken for a folder, and reading it will say that it is not there. Raises RnnsearchError where the Hub has no
    such model or cannot be reached.
    """
    folder = Path(name)
    if folder.exists() or not isinstance(name, str):
        return folder
    if (BOX / folder.name / CONFIG).exists() and name == folder.name:
        return BOX / name
    return download_model(name) or folder


def default_model(name: str = DEFAULT) -> Path:
    """The model in the box that is used where none is named. Raises RnnsearchError where the installation lacks it."""
    if not (BOX / name / CONFIG).exists():
        raise RnnsearchError(f"no model {name} is installed with this package; give one, as in --model FOLDER")
    return BOX / name


def translator_from(language: str | None) -> Path:
    """The model in the box that translates from this language, or else the default one."""
    return default_model(next((name for name in TRANSLATORS if name.partition("-")[0] == language), DEFAULT))


@dataclass(frozen=True)
class UnreadableModel:
    """A folder that has settings and weights, and that cannot be read."""

    folder: Path
    reason: str


def models_in(folder: Path) -> Iterator[ModelSummary | UnreadableModel]:
    """The models in the folders of `folder`, or that in itself, by name. What has no settings or no weights is none."""
    for place in sorted([folder, *(path for path in folder.iterdir() if path.is_dir())]) if folder.is_dir() else ():
        if os.path.lexists(place / CONFIG) and os.path.lexists(place / WEIGHTS):
            try:
                yield summarize(place)
            except RnnsearchError as error:
                yield UnreadableModel(place, str(error))
            except OSError as error:
                yield UnreadableModel(place, f"{place}: {error.strerror}")


def summarize(folder: Path) -> ModelSummary:
    """Describe a model without loading it. Raises RnnsearchError or OSError where it is not whole."""
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
    record = read_record(folder / "training.json")
    scores = {name: record[name] for name in ("dev_wer", "dev_bleu") if isinstance(record.get(name), float | int)}
    if "dev_wer" in scores:
        return f"WER {scores['dev_wer']:.1f}%"
    return f"BLEU {scores['dev_bleu']:.1f}" if "dev_bleu" in scores else ""
