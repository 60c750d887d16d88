"""What the longer training is, and how several machines share a reproduction; on tiny systems that learn nothing."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text as RichText

from rnnsearch.atomic import acquire_lock
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments import paper
from rnnsearch.experiments.experiment import CorpusSizes, Experiment, Scale, Text, builtin_text, make_experiment
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.reproduce import Reproduction

TINY = {
    "data": {"source_words": 100, "target_words": 100},
    "model": {"embedding_size": 4, "hidden_size": 4, "alignment_size": 4, "maxout_size": 4},
    # No score ever rises: such small steps change nothing.
    "training": {
        "batch_size": 8,
        "learning_rate": 1e-30,
        "weight_average": 0.0,
        "max_updates": 12,
        "validate_every": 1,
        "validate_sentences": 1,
    },
    "search": {"beam": 1, "maximum_length_ratio": 0.2, "minimum_length_ratio": 0.0},
}


def experiment(scale: Scale, folder: Path) -> Experiment:
    corpus = folder / "corpus"
    write_corpus(corpus, train=60, valid=2, test=4)
    files = builtin_text(corpus)
    text = Text(files.source, files.target, files.valid_source, files.valid_target, files.test_source, files.test_target)
    made = make_experiment(scale, folder, None if scale == "builtin" else text, 1.0, overrides=TINY)
    if scale == "builtin":
        made = Experiment(**{**vars(made), "builtin": CorpusSizes(train=60, valid=2, test=4)})
    return made


def reproduction(scale: Scale, folder: Path, *only: str) -> Reproduction:
    console = Console(file=io.StringIO(), width=1000)
    return Reproduction(experiment(scale, folder), Layout(folder), console, "rnnsearch reproduce", only=only)


def printed(one: Reproduction) -> str:
    assert isinstance(one.console.file, io.StringIO)
    return one.console.file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["builtin", "files"])
def test_the_longer_training_has_more_updates(scale: Scale, tmp_path: Path) -> None:
    """Even where the shorter one ended with more validations without gain than the patience of the longer one."""
    found = experiment(scale, tmp_path)
    shorter, longer = found.systems[3:]
    one = reproduction(scale, tmp_path, shorter.name, longer.name)
    assert one.run() is None
    records = [json.loads((one.layout.model(system) / "training.json").read_text()) for system in (shorter, longer)]
    assert records[0]["updates"] == 12
    assert records[0]["best_update"] == 1
    # Half as many validations without gain as the shorter training had validations, counted anew.
    assert records[1]["updates"] == 12 + 6
    assert records[1]["finished"] == "no better score for 6 validations"
    assert records[1]["validations"][:12] == records[0]["validations"]
    assert f"Training time on this machine: {shorter.name} " in printed(one)
    assert "Not tested here: RNNencdec" in printed(one)


def test_the_longer_training_is_bounded_as_in_the_paper(tmp_path: Path) -> None:
    found = experiment("files", tmp_path)
    config = found.config_of_longer(found.systems[4], 288_000, 288)
    assert config.training.max_updates == 667_000
    assert config.training.patience == 144
    assert config.training.max_minutes == 0
    assert config.training.max_epochs == 0
    few = found.config_of_longer(found.systems[4], 1, 1).training
    assert (few.max_updates, few.patience) == (2, 5)
    assert round(100 * paper.MORE_UPDATES) == 232


def test_the_longer_training_needs_the_shorter_one(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"--only RNNsearch-50\*: it goes on from RNNsearch-50, which is not in"):
        reproduction("files", tmp_path, "RNNsearch-50-longer").run()


def test_an_unknown_system_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"--only RNNsearch-25: .* its systems are RNNencdec-30, RNNsearch-30"):
        reproduction("files", tmp_path, "RNNsearch-25").run()
    assert not (tmp_path / "experiment.json").exists()


@pytest.mark.slow
def test_what_several_machines_trained_is_joined_by_copying(tmp_path: Path) -> None:
    """Each has a folder of its own, trains some of the systems, and one writes the report from all of them."""
    corpus, one, other = tmp_path / "text", tmp_path / "one", tmp_path / "other"
    made = experiment("files", corpus)

    def on_machine(folder: Path, *only: str) -> Reproduction:
        console = Console(file=io.StringIO(), width=1000)
        return Reproduction(made, Layout(folder), console, "rnnsearch reproduce", only=only)

    assert on_machine(one, "RNNencdec-30", "RNNsearch-30", "RNNencdec-50").run() is None
    assert on_machine(other, "RNNsearch-50", "RNNsearch-50*").run() is None
    for part in ("models", "translations"):
        shutil.copytree(other / part, one / part, dirs_exist_ok=True)
    trained = {path: path.read_bytes() for path in (one / "models").rglob("*.safetensors")}
    results = on_machine(one).run()
    assert results is not None
    assert [system.name for system in results.systems] == [system.name for system in made.systems]
    assert (one / "index.html").exists()
    assert {path: path.read_bytes() for path in trained} == trained
    assert "18 where RNNsearch-50 had 12" in results.introduction


@pytest.mark.slow
def test_text_is_prepared_by_one_process_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = reproduction("files", tmp_path, "RNNsearch-30")
    held = acquire_lock(one.layout.lock)
    prepared = one.layout.prepared(30)

    def told(self: Reproduction, text: str | RichText) -> None:
        if str(text).startswith("Waiting"):
            assert not prepared.exists()
            held.release()

    monkeypatch.setattr(Reproduction, "_print", told)
    assert one.run() is None
    assert prepared.exists()
