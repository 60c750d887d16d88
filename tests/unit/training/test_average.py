"""The moving average of the weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.training.average import WeightAverage, average_models
from rnnsearch.training.tensor_files import read_tensors
from toy import toy_config, toy_system


def test_it_is_the_weighted_sum_of_the_weights_it_has_seen() -> None:
    model, decay = toy_system(toy_config()).model, 0.8
    average = WeightAverage(model, decay)
    weight = model.decoder.W_s
    expected = weight.detach().double().clone()
    for update in range(1, 61):
        with torch.no_grad():
            weight.add_(torch.randn_like(weight))
        average.updated(update)
        if update < WeightAverage.EVERY:
            expected = weight.detach().double().clone()
            assert torch.equal(average.weights["decoder.W_s"], weight), "not the random weights, if training is so short"
        elif update % WeightAverage.EVERY == 0:
            kept = min(decay, (1 + update) / (10 + update)) ** WeightAverage.EVERY
            expected = kept * expected + (1 - kept) * weight.detach().double()
    assert torch.allclose(average.weights["decoder.W_s"].double(), expected, atol=1e-5)
    assert kept == decay**WeightAverage.EVERY, "the young average's faster decay is over"


def test_what_is_in_use_is_the_average_and_only_for_so_long() -> None:
    model = toy_system(toy_config()).model
    average = WeightAverage(model, 0.9)
    weight = model.decoder.W_s
    before, averaged = weight.detach().clone(), average.weights["decoder.W_s"].clone()
    with torch.no_grad():
        weight.zero_()
    with average.in_use():
        assert model.decoder.W_s is weight, "the optimizer goes on with the same parameter"
        assert torch.equal(weight, averaged)
        assert torch.equal(weight, before)
    assert not weight.any()


def write_model(folder: Path, seed: int = 1, **model: object) -> Path:
    system = toy_system(toy_config(model=model))
    system.model.initialize("glorot", seed)
    folder.mkdir()
    save_settings(folder, system)
    save_weights(folder / WEIGHTS, system)
    return folder


def test_the_mean_of_models(tmp_path: Path) -> None:
    folders = [write_model(tmp_path / f"{seed}", seed) for seed in (1, 2, 3)]
    average_models(folders, tmp_path / "mean")
    found = dict(load_system(tmp_path / "mean").model.named_parameters())
    parts = [read_tensors(folder / WEIGHTS)[0] for folder in folders]
    for name, mean in found.items():
        assert torch.allclose(mean, sum(part[name] for part in parts) / 3, atol=1e-7)
    assert any(not torch.equal(found[name], parts[0][name]) for name in found)


def test_only_models_of_one_make_have_a_mean(tmp_path: Path) -> None:
    one, other = write_model(tmp_path / "one"), write_model(tmp_path / "other", decoder_order="look-update-generate")
    with pytest.raises(RnnsearchError, match=r"other: its settings model\.\* are not those of"):
        average_models([one, other], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
    with pytest.raises(RnnsearchError, match="a model in it already"):
        average_models([one, one], other)
