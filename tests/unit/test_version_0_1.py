"""What version 0.1 saved, under the names that it gave tensors and settings, translates and resumes to the same bits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from rnnsearch.config import parse_assignments
from rnnsearch.model import present_name
from rnnsearch.model_files import CONFIG, WEIGHTS
from rnnsearch.model_folder import load_system, save_settings
from rnnsearch.training.trainer import CHECKPOINT, Trainer
from rnnsearch.translation import Translator
from toy import DEEPER, Recorder, StopAt, toy_config, toy_pairs, toy_trainer

RENAMED_TENSORS = (("extra_layers.", "above."), ("norm.weight", "norm.g"), ("norm.bias", "norm.b"))
RENAMED_SETTINGS = {"vocabulary_selection": "shortlist", "selection_candidates": "shortlist_candidates"}


def trainer_in(folder: Path) -> Trainer:
    training = {"max_updates": 8, "validate_every": 4, "checkpoint_every": 3, "weight_average": 0.9, "dropout": 0.1}
    return toy_trainer(folder, toy_config(model=DEEPER, training=training, search={"selection_candidates": 7}), pairs=60)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A training that was stopped on the way, as it is written now, and as version 0.1 wrote it."""
    now = tmp_path_factory.mktemp("now")
    trainer = trainer_in(now)
    save_settings(now, trainer.system)
    trainer.run(StopAt(trainer, update=5))
    then = now.with_name(f"{now.name}-then")
    shutil.copytree(now, then)
    for name in (WEIGHTS, CHECKPOINT):
        with safe_open(then / name, "pt") as file:
            metadata = file.metadata()
        save_file({earlier(key): tensor for key, tensor in load_file(then / name).items()}, then / name, metadata)
    config = json.loads((then / CONFIG).read_text(encoding="utf-8"))
    del config["model"]["encoder"]
    for setting, before in RENAMED_SETTINGS.items():
        config["search"][before] = config["search"].pop(setting)
    (then / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    return now, then


def earlier(name: str) -> str:
    for now, before in RENAMED_TENSORS:
        name = name.replace(now, before)
    return name


def test_the_names_are_those_of_version_0_1(folders: tuple[Path, Path]) -> None:
    names = set(load_file(folders[1] / WEIGHTS))
    assert {"encoder.above.0.norm.g", "decoder.above.1.norm.b", "readout.norm.g", "encoder.norm.b"} <= names
    assert not names & {name for name in load_file(folders[0] / WEIGHTS) if "extra_layers" in name or "norm" in name}
    assert {present_name(name) for name in names} == set(load_file(folders[0] / WEIGHTS))


def test_it_translates_to_the_same_bits(folders: tuple[Path, Path]) -> None:
    now, then = (Translator([load_system(folder)], folder) for folder in folders)
    assert now.system.config == then.system.config
    lines = [source for source, _ in toy_pairs(5, seed=17)]
    for one, other in zip(now.n_best(lines, 3), then.n_best(lines, 3), strict=True):
        for ours, theirs in zip(one, other, strict=True):
            assert (ours.text, ours.score) == (theirs.text, theirs.score)
            np.testing.assert_array_equal(ours.alignment, theirs.alignment)


def test_it_resumes_to_the_same_bits(folders: tuple[Path, Path], tmp_path: Path) -> None:
    for name, folder in zip(("now", "then"), folders, strict=True):
        shutil.copytree(folder, tmp_path / name)
        trainer = trainer_in(tmp_path / name)
        trainer.resume()
        trainer.run(recorder := Recorder())
        assert len(recorder.losses) == 3
    for name in (WEIGHTS, CHECKPOINT):
        one, other = (load_file(tmp_path / which / name) for which in ("now", "then"))
        assert one.keys() == other.keys(), "what is saved from now on has the names of now"
        assert all((one[key] == other[key]).all() for key in one), name


@pytest.mark.parametrize(("setting", "before"), RENAMED_SETTINGS.items())
def test_settings_on_the_command_line(setting: str, before: str) -> None:
    assert parse_assignments([f"search.{before}=9"]) == parse_assignments([f"search.{setting}=9"])
