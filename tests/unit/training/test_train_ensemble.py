from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import rnnsearch
from rnnsearch.cli.options import settings
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_catalog import models_in
from rnnsearch.model_folder import export_model, load_members
from rnnsearch.training import ensemble
from rnnsearch.training.average import average_models
from rnnsearch.training.ensemble import train_ensemble
from rnnsearch.training.session import Interrupted, train
from rnnsearch.translation import Translator
from spelling import assignments, spelt_words, write_table

pytestmark = pytest.mark.slow

CONFIG = settings("best", None, assignments(training__max_updates=8, training__validate_every=4))


@pytest.fixture
def text(tmp_path: Path) -> dict[str, Any]:
    table, valid = (
        write_table(tmp_path / f"{name}.tsv", spelt_words(count, seed))
        for name, count, seed in (("train", 64, 1), ("valid", 10, 2))
    )
    return {
        "sources": table,
        "targets": table,
        "valid_source": valid,
        "valid_target": valid,
        "console": Console(quiet=True),
    }


def test_one_folder_loads_as_all_models(text: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "three"
    translator = train_ensemble(folder, CONFIG, 3, **text)
    loaded = rnnsearch.load(folder)
    members = [folder, folder / "members" / "2", folder / "members" / "3"]
    assert loaded.kind == "ensemble of 3 RNNsearch"
    word = spelt_words(1, 5)[0]
    first, *others = [load_members(member)[0] for member in members]
    scored = Translator([first, *others]).score(*word)
    assert scored.score == loaded.score(*word).score == translator.score(*word).score
    singles = [other.model.readout.W_o for other in others]
    assert not np.array_equal(*(W_o.detach().numpy() for W_o in singles))
    assert json.loads((folder / "training.json").read_text())["ensemble"]["models"] == 3
    (summary, *_) = models_in(folder)
    assert summary.kind == "3 RNNsearch"

    export_model(folder, tmp_path / "exported", "int8")
    exported = rnnsearch.load(tmp_path / "exported")
    assert exported.kind == loaded.kind
    assert exported.score(*word).score == pytest.approx(scored.score, rel=0.05)
    for use in (
        lambda: average_models([folder, folder], tmp_path / "average"),
        lambda: train(tmp_path / "further", CONFIG, start=folder, **text),
    ):
        with pytest.raises(RnnsearchError, match="an ensemble of 3 models; give a folder of one model"):
            use()


def test_an_ensemble_that_was_stopped_goes_on(text: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    train_ensemble(whole, CONFIG, 2, **text)
    trainings = []

    def stopping(folder: Path, *arguments: Any, **others: Any) -> object:
        trainings.append(folder)
        if len(trainings) == 2:
            raise Interrupted
        return train(folder, *arguments, **others)

    monkeypatch.setattr(ensemble, "train", stopping)
    with pytest.raises(Interrupted):
        train_ensemble(stopped, CONFIG, 2, **text)
    train_ensemble(stopped, CONFIG, 2, resume=True, **text)
    assert trainings == [stopped, stopped / "members" / "2", stopped / "members" / "2"]
    for name in ("model.safetensors", "model-2.safetensors"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()


def test_a_model_becomes_an_ensemble_of_held_out_pairs(text: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "one"
    held_out = {key: value for key, value in text.items() if not key.startswith("valid")} | {"hold_out": 6}
    train(folder, CONFIG, **held_out)
    assert rnnsearch.load(folder).kind == "RNNsearch"
    train_ensemble(folder, CONFIG, 2, resume=True, **held_out)
    assert rnnsearch.load(folder).kind == "ensemble of 2 RNNsearch"
