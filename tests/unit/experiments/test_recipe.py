"""The label that says whose recipe a system was trained by."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch.config import from_preset, to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import Scale, Text, make_experiment
from rnnsearch.experiments.recipe import recipe

TEXT = Text((Path("a.en"),), (Path("a.fr"),), (Path("d.en"),), (Path("d.fr"),), Path("t.en"), Path("t.fr"))


def test_the_preset_paper_is_the_papers() -> None:
    assert recipe(to_dict(from_preset("paper"))) == "Recipe: the paper’s (preset paper)."


def test_other_sizes_are_said() -> None:
    found = recipe(to_dict(from_preset("paper", {"model": {"hidden_size": 64}})))
    assert found == "Recipe: the paper’s (preset paper), with other sizes: model.hidden_size = 64 (1000)."


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        *(("training", "optimizer", "adam"), ("training", "precision", "bf16"), ("training", "decay", "linear")),
        *(("training", "initialization", "glorot"), ("training", "weight_average", 0.9), ("training", "shuffle", "epoch")),
        *(("data", "subwords", "bpe"), ("search", "length_normalization", 1.0), ("model", "layer_norm", True)),
    ],
)
def test_whatever_differs_is_said(section: str, key: str, value: object) -> None:
    found = recipe(to_dict(from_preset("paper", {section: {key: value}})))
    assert found.startswith("Recipe: ours, not the paper’s.")
    assert f"{section}.{key} = {str(value).lower() if isinstance(value, bool) else value} (" in found


@pytest.mark.parametrize(
    ("scale", "whose"), [("builtin", "ours"), ("multi30k", "ours"), ("files", "ours"), ("wmt14", "the paper’s")]
)
def test_the_recipe_of_each_scale(scale: Scale, whose: str) -> None:
    made = make_experiment(scale, Path("output"), None if scale == "builtin" else TEXT)
    assert all(recipe(to_dict(made.config_of(system))).startswith(f"Recipe: {whose}") for system in made.systems)


def test_settings_of_an_earlier_version_have_no_say() -> None:
    settings = {"training": {"optimizer": "adadelta"}, "search": {"shortlist": 5}}
    assert recipe(settings) == "Recipe: the paper’s (preset paper)."


@pytest.mark.parametrize("scale", ["builtin", "multi30k", "files"])
def test_the_papers_recipe_has_the_sizes_of_the_scale(scale: Scale) -> None:
    text = None if scale == "builtin" else TEXT
    usual = make_experiment(scale, Path("output"), text)
    made = make_experiment(scale, Path("output"), text, recipe="paper")
    assert made.config.model == usual.config.model
    assert made.config.data.source_words == usual.config.data.source_words
    assert made.limits == usual.limits
    assert recipe(to_dict(made.config_of(made.systems[0]))).startswith(
        "Recipe: the paper’s (preset paper), with other sizes"
    )


def test_the_scale_of_the_paper_has_no_other_recipe() -> None:
    with pytest.raises(RnnsearchError, match=r"--recipe ours: .* use --scale files"):
        make_experiment("wmt14", Path("output"), TEXT, recipe="ours")
