"""Models by name, and the one that is used where none is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import rnnsearch as package
from command_line import Folders, Run, refused
from rnnsearch import model_catalog
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_catalog import ModelSummary, default_model, model_folder, models_in, summarize
from rnnsearch.model_folder import export_model, load_system
from rnnsearch.training.trainer import CHECKPOINT

LINE = "the old man sees a cat ."


@pytest.fixture
def box(model_folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A box with two small models in it, stored as int8."""
    place = tmp_path / "box"
    for name in ("en-fr", "fr-en"):
        export_model(model_folder("mlp"), place / name, "int8")
    monkeypatch.setattr(model_catalog, "BOX", place)
    monkeypatch.chdir(tmp_path)
    return place


def test_without_a_name_it_is_the_installed_one(box: Path, rnnsearch: Run, tmp_path: Path) -> None:
    expected = package.load(box / "en-fr").translate(LINE)
    for translator in (package.load(), package.load("en-fr")):
        assert translator.translate(LINE).text == expected.text
    (tmp_path / "text.en").write_text(LINE + "\n")
    done = rnnsearch("translate", "text.en")
    assert (done.status, done.out) == (0, expected.text + "\n")
    assert done.err == "rnnsearch: translating English into French with the installed model; --model names another\n"
    named = rnnsearch("translate", "--model", "en-fr", "text.en")
    assert (named.out, named.err) == (expected.text + "\n", "")


def test_the_name_of_the_text_tells_the_direction(box: Path, rnnsearch: Run, tmp_path: Path) -> None:
    directions = {"letter.fr": "French into English", "letter.en": "English into French", "letter": "English into French"}
    for name, direction in directions.items():
        (tmp_path / name).write_text(LINE + "\n")
        assert f"translating {direction} with the installed model" in rnnsearch("translate", name).err


def test_a_folder_comes_before_the_box(box: Path, tmp_path: Path) -> None:
    assert model_folder("en-fr") == box / "en-fr"
    (tmp_path / "en-fr").mkdir()
    assert model_folder("en-fr") == Path("en-fr")


@pytest.mark.parametrize("name", ["..", ".", "box/en-fr/..", "de-en", ""])
def test_what_is_not_in_the_box_is_a_folder(box: Path, name: str) -> None:
    assert model_folder(name) == Path(name)


def test_an_installation_without_a_model(rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_catalog, "BOX", tmp_path / "box")
    with pytest.raises(RnnsearchError, match="no model en-fr is installed"):
        default_model()
    refused(rnnsearch("translate", tmp_path / "text.en"), "no model en-fr is installed", "--model FOLDER")
    refused(rnnsearch("pronounce", "word"), "no model en-ipa is installed", "--model FOLDER")


def test_a_model_at_a_glance(box: Path, model_folder: Folders) -> None:
    floats, integers = summarize(model_folder("mlp")), summarize(box / "en-fr")
    parameters = sum(parameter.numel() for parameter in load_system(box / "en-fr").model.parameters())
    for found, precision in ((floats, "fp32"), (integers, "int8")):
        assert (found.parameters, found.precision, found.kind) == (parameters, precision, "RNNsearch")
    assert integers.megabytes < floats.megabytes
    assert summarize(model_folder("none")).kind == "RNNencdec"


def test_they_are_listed(box: Path, rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "mine" / "text").mkdir(parents=True)
    shutil.copytree(model_folder("none"), tmp_path / "mine" / "baseline")
    shutil.copytree(model_folder("mlp"), tmp_path / "mine" / "torn")
    (tmp_path / "mine" / "torn" / "model.safetensors").write_bytes(b"torn")
    (tmp_path / "mine" / "begun" / CHECKPOINT.parent).mkdir(parents=True)
    assert [(one.folder.name, isinstance(one, ModelSummary)) for one in models_in(tmp_path / "mine")] == [
        ("baseline", True),
        ("torn", False),
    ]
    listed = rnnsearch("models", "mine").out
    assert "en-fr" in listed
    assert "fr-en" in listed
    assert "int8" in listed
    assert "mine/baseline" in listed
    assert "RNNencdec" in listed
    assert "unreadable: mine/torn/model.safetensors: not a whole safetensors file" in listed


def test_there_are_none(rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_catalog, "BOX", tmp_path / "box")
    assert "There are no models here" in rnnsearch("models", tmp_path).out
    refused(rnnsearch("models", tmp_path / "missing"), "no such folder")
