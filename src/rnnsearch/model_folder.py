"""Model folders, which contain `config.json`, `model.safetensors` and the two vocabularies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import Config, to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.shapes import Shapes, alignment_layer_shapes
from rnnsearch.graphs.weights import Weights
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, WEIGHTS, further_weights, read_model_config, shared_files
from rnnsearch.system import System, check_memory, model_shapes
from rnnsearch.text import Vocabularies
from rnnsearch.untrusted import check_inside
from rnnsearch.weight_files import read_weights, write_weights


def save_settings(folder: Path, system: System) -> None:
    """Write the settings and the vocabularies of a system, without the weights."""
    system.vocabularies.save(folder)
    write_json(folder / CONFIG, to_dict(system.config))


def save_weights(path: Path, system: System, precision: Precision = "fp32") -> None:
    """Write the weights of a system in the format of `rnnsearch.weight_files.write_weights`."""
    write_weights(path, system.weights, system.fingerprint(), precision)


def save_alignment_layer(folder: Path, system: System, precision: Precision = "fp32") -> None:
    """Write the alignment layer of a system into the folder of its model, in the same format."""
    write_weights(folder / ALIGNMENT_LAYER, system.alignment_layer_weights, system.fingerprint(), precision)


def export_model(folder: Path, output: Path, precision: Precision) -> None:
    """Write a copy of a model for sharing: its weights in this precision, and its other files that are shared (`SHARED`).

    The copy can translate, and can be trained further with `train --from`; it has no text and no checkpoints. Raises
    RnnsearchError if `folder` is not a model, if one of its files is a link to a file outside of it, or if `output` is a
    model already.
    """
    if (output / WEIGHTS).exists():
        raise RnnsearchError(f"{output}: there is a model in it already; give another --output")
    weights = [folder / WEIGHTS, *further_weights(folder)]
    written = [*weights, folder / ALIGNMENT_LAYER]
    files = shared_files(folder)
    check_inside(folder, files)
    systems = load_members(folder)
    for path in (path for path in files if path not in written):
        with atomic_write(output / path.name) as temporary:
            shutil.copyfile(path, temporary)
    if systems[0].has_alignment_layer:
        save_alignment_layer(output, systems[0], precision)
    for path, system in reversed(list(zip(weights, systems, strict=True))):
        save_weights(output / path.name, system, precision)


def load_system(folder: str | os.PathLike[str], device: str = "cpu") -> System:
    """Read the model in a folder; if that is an ensemble, its first model.

    Raises RnnsearchError if a file is missing, damaged, or does not fit the others.
    """
    folder = Path(folder)
    config = read_model_config(folder)
    vocabularies = Vocabularies.load(folder, config.data)
    check_memory(config.model, len(vocabularies.source), len(vocabularies.target))
    if not (folder / WEIGHTS).exists():
        raise RnnsearchError(
            f"{folder}: no {WEIGHTS} yet; training writes it at its first validation (training.validate_every)"
        )
    system = _with_weights(config, vocabularies, folder / WEIGHTS, device)
    if not (folder / ALIGNMENT_LAYER).exists():
        return system
    if not system.aligns:
        raise RnnsearchError(f"{folder / ALIGNMENT_LAYER}: the model of this folder has no alignment; remove the file")
    layer = _read_part(folder / ALIGNMENT_LAYER, system, alignment_layer_shapes(config.model))
    return System(config, vocabularies, system.weights, layer, device)


def load_members(folder: str | os.PathLike[str], device: str = "cpu") -> list[System]:
    """Read all models of a folder: one model, or those of an ensemble. Raises RnnsearchError as `load_system` does."""
    first = load_system(folder, device)
    paths = further_weights(Path(folder))
    return [first, *(_with_weights(first.config, first.vocabularies, path, device) for path in paths)]


def check_single(folder: str | os.PathLike[str]) -> None:
    """Raise RnnsearchError if the folder contains an ensemble of several models."""
    count = 1 + len(further_weights(Path(folder)))
    if count > 1:
        raise RnnsearchError(f"{os.fspath(folder)}: an ensemble of {count} models; give a folder of one model")


def _with_weights(config: Config, vocabularies: Vocabularies, path: Path, device: str) -> System:
    """Return a system with the weights of a file."""
    system = System(config, vocabularies, Weights({}), device=device)
    weights = _read_part(path, system, model_shapes(config.model, *map(len, vocabularies)))
    return System(config, vocabularies, weights, device=device)


def _read_part(path: Path, system: System, shapes: Shapes) -> Weights:
    """Read the weights of a part of the system from a file. Raises RnnsearchError if they belong to another system."""
    weights, header = read_weights(path, shapes)
    if "of" in header and header["of"] != system.fingerprint():
        raise RnnsearchError(
            f"{path.parent}: {path.name} is not of this {CONFIG} and these vocabularies; copy all files of the model "
            "together"
        )
    return weights


def load_systems(folders: Sequence[str | os.PathLike[str]], device: str = "cpu") -> list[list[System]]:
    """Read several model folders, each with one or more models (`load_members`).

    Raises RnnsearchError if two models with the same direction (`data.right_to_left`) have different vocabularies.
    """
    systems = [load_members(folder, device) for folder in folders]
    first: dict[bool, tuple[str | os.PathLike[str], System]] = {}
    for folder, (system, *_) in zip(folders, systems, strict=True):
        before, like = first.setdefault(system.config.data.right_to_left, (folder, system))
        side = system.vocabularies.differing_side(like.vocabularies)
        if side is not None:
            raise RnnsearchError(
                f"{os.fspath(folder)}: its {side} vocabulary is not that of {os.fspath(before)}; models that work together "
                "are trained on the same prepared data (`rnnsearch prepare`, then `train --data`)"
            )
    return systems
