"""A model folder is read as it was written, or the one thing that is wrong with it is said in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import rnnsearch
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import PAPER_NAMES
from rnnsearch.model_files import CONFIG, SCALE, WEIGHTS
from rnnsearch.model_folder import export_model, load_system, save_settings, save_weights
from rnnsearch.system import System
from rnnsearch.text import Vocabularies, Vocabulary
from toy import ALIGNMENTS, CELLS, toy_config, toy_system, toy_vocabularies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    system = toy_system(toy_config())
    save_settings(tmp_path / "model", system)
    save_weights(tmp_path / "model" / WEIGHTS, system)
    return tmp_path / "model"


def refused(folder: Path, told: str) -> str:
    with pytest.raises(RnnsearchError, match=told) as raised:
        load_system(folder)
    message = str(raised.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("cell", CELLS)
def test_round_trip(tmp_path: Path, cell: str, alignment: str) -> None:
    system = toy_system(toy_config(model={"cell": cell, "alignment": alignment}))
    save_settings(tmp_path, system)
    save_weights(tmp_path / WEIGHTS, system)
    loaded = load_system(tmp_path)
    assert loaded.config == system.config
    assert loaded.vocabularies.source.words == system.vocabularies.source.words
    assert loaded.vocabularies.target.words == system.vocabularies.target.words
    for name, parameter in system.model.named_parameters():
        assert torch.equal(loaded.model.get_parameter(name), parameter), name
    assert not loaded.model.training


def test_anyone_can_read_it(folder: Path) -> None:
    assert json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model"]["hidden_size"] == 16
    with safe_open(folder / WEIGHTS, "np") as file:
        assert set(file.keys()) == set(PAPER_NAMES)
    assert (folder / "source.vocab").read_text(encoding="utf-8").split("\n")[:2] == ["</s>", "[UNK]"]


def test_the_public_face(model_folder: Callable[[str], Path]) -> None:
    translator = rnnsearch.load(model_folder("mlp"))
    found = translator.translate("the big dog sees a red cat .")
    assert found.text
    assert found.alignment is not None
    assert found.alignment.shape == (len(found.tokens), len(found.source_tokens))
    for name in rnnsearch.__all__:
        assert getattr(rnnsearch, name) is not None


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="Transformer"):
        _ = rnnsearch.Transformer


def test_no_folder(tmp_path: Path) -> None:
    refused(tmp_path / "none", "no model here")
    refused(tmp_path, r"no model here \(there is no config\.json\)")


@pytest.mark.parametrize("name", ["source.vocab", "target.vocab", WEIGHTS])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    refused(folder, name.replace(".", r"\."))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_weights_cut_short(folder: Path, share: float) -> None:
    path = folder / WEIGHTS
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(folder, r"model\.safetensors: not a whole safetensors file")


def test_weights_that_are_something_else(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(b"PK\x03\x04" + b"pickled" * 100)
    refused(folder, r"model\.safetensors: not a whole safetensors file")


def test_a_folder_in_the_place_of_the_weights(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()
    refused(folder, r"model\.safetensors")


@pytest.mark.parametrize("name", ["source.vocab", "target.vocab"])
def test_a_vocabulary_of_another_model(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "another\n", encoding="utf-8")
    words = len(path.read_text(encoding="utf-8").splitlines())
    refused(folder, rf"E is \({words - 1}, 12\), but config\.json and the vocabularies make it \({words}, 12\)")


def test_a_tensor_that_is_missing(folder: Path) -> None:
    tensors = load_file(folder / WEIGHTS)
    del tensors["decoder.alignment.v_a"]
    save_file(tensors, folder / WEIGHTS)
    refused(folder, r"no tensor 'decoder\.alignment\.v_a'")


def test_a_tensor_of_another_shape_that_could_be_broadcast(folder: Path) -> None:
    tensors = load_file(folder / WEIGHTS)
    tensors["decoder.W_s"] = tensors["decoder.W_s"][:1].clone()
    save_file(tensors, folder / WEIGHTS)
    refused(folder, r"decoder\.W_s is \(1, 16\).*\(16, 16\)")


def test_settings_of_another_model(folder: Path, tmp_path: Path) -> None:
    other = toy_system(toy_config(model={"cell": "lstm"}))
    save_settings(tmp_path / "other", other)
    shutil.copy(tmp_path / "other" / CONFIG, folder / CONFIG)
    refused(folder, WEIGHTS.replace(".", r"\."))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model": {"hidden_size": -1}}', '{"modle": {}}'])
def test_a_config_that_is_garbage(folder: Path, text: str) -> None:
    (folder / CONFIG).write_text(text, encoding="utf-8")
    refused(folder, "config|model")


@pytest.mark.parametrize("cell", CELLS)
def test_int8_weights_are_rounded_by_half_a_scale_and_to_the_same_integers_again(tmp_path: Path, cell: str) -> None:
    system = toy_system(toy_config(model={"cell": cell}))
    save_settings(tmp_path / "model", system)
    save_weights(tmp_path / "model" / WEIGHTS, system)
    export_model(tmp_path / "model", tmp_path / "small", "int8")
    export_model(tmp_path / "small", tmp_path / "again", "int8")
    stored, again = (load_file(tmp_path / name / WEIGHTS) for name in ("small", "again"))
    loaded = load_system(tmp_path / "small").model
    for name, parameter in system.model.named_parameters():
        found = loaded.get_parameter(name)
        if parameter.dim() == 2:
            assert stored[name].dtype == torch.int8
            assert ((found - parameter).abs() <= 0.5001 * stored[name + SCALE].unsqueeze(1)).all(), name
            assert torch.equal(again[name], stored[name]), name
        else:
            assert torch.equal(found, parameter), name


def test_an_exported_model_is_small_and_translates_alike(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder("mlp"), tmp_path / "model"))
    (folder / "lexicon.tsv").write_text("dog\tchien\t1\n", encoding="utf-8")
    (folder / "data").mkdir()
    (folder / "data" / "train.arrow").write_bytes(b"text")
    export_model(folder, tmp_path / "small", "int8")
    assert {path.name for path in (tmp_path / "small").iterdir()} == {
        path.name for path in folder.iterdir() if path.is_file()
    }
    small, large = ((place / WEIGHTS).stat().st_size for place in (tmp_path / "small", folder))
    assert small < 0.7 * large, "the toy has hardly more weights than names"
    lines = ["the big dog sees a red cat .", "this man has the old house ."]
    here, there = (rnnsearch.load(place).translate(lines) for place in (tmp_path / "small", folder))
    assert [found.text for found in here] == [found.text for found in there]
    assert [found.score for found in here] == pytest.approx([found.score for found in there], abs=0.2)
    with pytest.raises(RnnsearchError, match="there is a model in it already"):
        export_model(folder, tmp_path / "small", "fp32")


@pytest.mark.parametrize("damage", ["missing", "short", "of integers"])
def test_int8_without_scales_is_refused(folder: Path, damage: str) -> None:
    tensors = load_file(folder / WEIGHTS)
    name = "readout.W_o"
    tensors[name] = tensors[name].to(torch.int8)
    if damage != "missing":
        scale = torch.ones(len(tensors[name]) - (damage == "short"))
        tensors[name + SCALE] = scale.int() if damage == "of integers" else scale
    save_file(tensors, folder / WEIGHTS)
    refused(folder, r"readout\.W_o is int8, but readout\.W_o\.scale has not one scale for each row")


def test_every_byte_of_the_weights_that_changes_is_found(folder: Path) -> None:
    whole, random = (folder / WEIGHTS).read_bytes(), Random(1)
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[random.randrange(len(whole))] ^= random.randrange(1, 256)
        (folder / WEIGHTS).write_bytes(damaged)
        with pytest.raises(RnnsearchError):
            load_system(folder)


def test_files_of_different_models_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    """Though all shapes are the same."""
    config = toy_config(model={"decoder_order": "look-update-generate"})
    turned = Vocabularies(*(Vocabulary(side.words[:1:-1]) for side in toy_vocabularies()))
    other = System(config, turned, toy_system(config).model)
    save_settings(tmp_path / "other", other)
    for name in (CONFIG, "source.vocab", "target.vocab"):
        whole = (folder / name).read_bytes()
        shutil.copy(tmp_path / "other" / name, folder / name)
        refused(folder, "is not of this config.json and these vocabularies")
        (folder / name).write_bytes(whole)
    load_system(folder)


def test_weights_replaced_while_they_are_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a training: they are those of one moment."""
    path, newer = folder / WEIGHTS, toy_system(toy_config(training={"seed": 2}))
    save_weights(tmp_path / "newer", newer)

    class Mixed:
        """Opens the file as safetensors does: the header of one moment, and the tensors of a later one."""

        def __init__(self, name: Path, framework: str) -> None:
            self._header = safe_open(name, framework)
            if (tmp_path / "newer").exists():
                (tmp_path / "newer").replace(path)
            self._tensors = safe_open(name, framework)

        def __enter__(self) -> Any:
            tensors = self._tensors
            return SimpleNamespace(
                keys=tensors.keys, get_slice=tensors.get_slice, get_tensor=tensors.get_tensor, metadata=self._header.metadata
            )

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("rnnsearch.weight_files.safe_open", Mixed)
    found, expected = load_system(folder).model, newer.model
    assert all(map(torch.equal, found.parameters(), expected.parameters()))


def test_weights_of_version_0_1_say_nothing_of_themselves(folder: Path) -> None:
    save_file(load_file(folder / WEIGHTS), folder / WEIGHTS)
    load_system(folder)


def test_the_search_may_be_set_in_the_file(folder: Path) -> None:
    """What does not change the meaning of the weights may be edited."""
    config = json.loads((folder / CONFIG).read_text())
    config["search"]["beam"] = 7
    (folder / CONFIG).write_text(json.dumps(config))
    assert load_system(folder).config.search.beam == 7
