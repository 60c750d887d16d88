"""Training goes on from another model: its weights, its vocabularies, its settings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from kept import kept
from rnnsearch.config import Config
from rnnsearch.data.prepare import prepare
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_folder import load_system
from rnnsearch.training.session import train
from rnnsearch.training.validation import negative_log_likelihood
from toy import toy_config, toy_pairs, write_pairs

pytestmark = pytest.mark.slow

QUIET = Console(quiet=True)


def config(updates: int, rate: float) -> Config:
    training = {"max_updates": updates, "validate_every": 50, "validate_on": "nll", "learning_rate": rate}
    return toy_config(training=training, data={"subwords": "bpe", "subword_pieces": 60})


def make_text_and_model(folder: Path) -> None:
    for name, count, seed in (("train", 300, 1), ("valid", 20, 2), ("more", 100, 3)):
        write_pairs(folder, name, count, seed)
    valid = {"valid_source": folder / "valid.en", "valid_target": folder / "valid.fr"}
    train(
        folder / "model",
        config(150, 1e-2),
        sources=[folder / "train.en"],
        targets=[folder / "train.fr"],
        console=QUIET,
        **valid,
    )


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(kept(make_text_and_model), tmp_path_factory.mktemp("text") / "folder"))


def nll(folder: Path) -> float:
    pairs = toy_pairs(20, seed=2)
    sources, targets = zip(*[(source.split(), target.split()) for source, target in pairs], strict=True)
    return negative_log_likelihood([load_system(folder)], sources, targets).per_word


@pytest.mark.parametrize("prepared", [False, True])
def test_it_starts_from_the_model(text: Path, tmp_path: Path, prepared: bool) -> None:
    """With a rate of next to nothing, the model stays what it was, though seed and asked sizes are others."""
    model = load_system(text / "model")
    given: dict[str, object] = {"sources": [text / "more.en"], "targets": [text / "more.fr"]}
    if prepared:
        files = [text / "more.en"], [text / "more.fr"]
        prepare(*files, tmp_path / "data", model.config.data, vocabularies=model.vocabularies)
        given = {"data": tmp_path / "data"}
    asked = toy_config(training={"max_updates": 3, "learning_rate": 1e-9, "seed": 9}, model={"hidden_size": 99})
    train(
        tmp_path / "tuned",
        asked,
        start=text / "model",
        valid_source=text / "valid.en",
        valid_target=text / "valid.fr",
        console=QUIET,
        **given,  # type: ignore[arg-type]
    )
    tuned = load_system(tmp_path / "tuned")
    assert tuned.config.model == model.config.model
    assert tuned.vocabularies.source.words == model.vocabularies.source.words
    assert nll(tmp_path / "tuned") == pytest.approx(nll(text / "model"), rel=1e-4)


def test_data_of_other_vocabularies_is_refused(text: Path, tmp_path: Path) -> None:
    prepare([text / "more.en"], [text / "more.fr"], tmp_path / "data", config(1, 1.0).data)
    with pytest.raises(RnnsearchError, match="--vocabulary-of"):
        train(
            tmp_path / "tuned",
            config(1, 1.0),
            data=tmp_path / "data",
            start=text / "model",
            valid_source=text / "valid.en",
            valid_target=text / "valid.fr",
            console=QUIET,
        )
