"""Where the development set comes from: several files, pairs that are held out, or neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rnnsearch as package
from command_line import Run, refused
from rnnsearch.cli.options import settings
from rnnsearch.training import session, validation
from rnnsearch.training.session import train
from rnnsearch.training.trainer import Trainer
from rnnsearch.training.validation import NLL
from toy import timeless, toy_config, toy_pairs, write_pairs

TINY = [
    *("--set", "data.tokenizer=whitespace"),
    *("--set", "model.embedding_size=8"),
    *("--set", "model.hidden_size=8"),
    *("--set", "model.alignment_size=6"),
    *("--set", "model.maxout_size=6"),
    *("--set", "training.max_updates=6"),
    *("--set", "training.validate_every=2"),
    *("--set", "training.checkpoint_every=2"),
    *("--set", "training.batch_size=8"),
]


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    source, target = write_pairs(tmp_path, "train", 60, seed=1)
    return ["--source", source, "--target", target]


def record(model: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((model / "training.json").read_text())
    return found


@pytest.mark.slow
def test_development_sets_of_several_files_count_together(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    """In the order in which they are given, as one file would."""
    parts = [write_pairs(tmp_path, name, 6, seed=seed) for name, seed in (("first", 2), ("second", 3))]
    both = [tmp_path / "both.en", tmp_path / "both.fr"]
    for side, path in enumerate(both):
        path.write_text("".join(part[side].read_text() for part in parts))
    valid = [word for part in parts for word in ("--valid-source", part[0], "--valid-target", part[1])]
    nll = {}
    for name, given in (
        ("repeated", valid),
        ("one file", ["--valid-source", both[0], "--valid-target", both[1]]),
        ("the last", valid[4:]),
    ):
        done = rnnsearch("train", *text, *given, *TINY, "--output", tmp_path / name)
        assert done.status == 0, done.err
        nll[name] = record(tmp_path / name)["dev_nll"]
    assert nll["repeated"] == nll["one file"] != nll["the last"]
    done = rnnsearch("train", *text, *valid[:-2], *TINY, "--output", tmp_path / "uneven")
    refused(done, "2 source but 1 target files")


def test_files_may_be_one_or_several_in_python(tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "train", 60, seed=1)
    first, second = (write_pairs(tmp_path, name, 6, seed=seed) for name, seed in (("first", 2), ("second", 3)))
    config = toy_config(training={"max_updates": 2, "validate_every": 2})
    valid = [first[0], str(second[0])], (first[1], second[1])
    train(tmp_path / "lists", config, sources=[source], targets=[target], valid_source=valid[0], valid_target=valid[1])
    package.train(
        tmp_path / "paths", config, sources=str(source), targets=target, valid_source=first[0], valid_target=str(first[1])
    )
    assert record(tmp_path / "lists")["dev_nll"] != record(tmp_path / "paths")["dev_nll"]
    assert record(tmp_path / "paths")["training_pairs"] == 60


def test_pairs_that_are_held_out(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    model = tmp_path / "model"
    done = rnnsearch("train", *text, "--hold-out", 10, *TINY, "--output", model)
    assert done.status == 0, done.err
    assert "10 held out" in done.err
    found = record(model)
    files = [model / "data" / name for name in ("held-out.source", "held-out.target")]
    held = list(zip(*(path.read_text().splitlines() for path in files), strict=True))
    assert len(held) == 10
    assert set(held) <= set(toy_pairs(60, seed=1))
    assert found["training_pairs"] == len(set(toy_pairs(60, seed=1)) - set(held))

    # They can be evaluated on, and are the development set: as files, they give the same score.
    evaluation = rnnsearch("evaluate", "--model", model, "--source", files[0], "--reference", files[1])
    assert evaluation.status == 0, evaluation.err
    scored = rnnsearch("score", "--model", model, "--source", files[0], "--target", files[1])
    assert -sum(map(float, scored.out.split())) / 10 == pytest.approx(found["dev_nll"], abs=1e-4)


@pytest.mark.slow
def test_a_run_with_pairs_held_out_is_resumed_to_the_same_weights(
    rnnsearch: Run, text: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", *text, "--hold-out", 10, *TINY]
    assert rnnsearch(*command, "--output", tmp_path / "whole").status == 0

    def stop_after_three(self: Trainer) -> None:
        update(self)
        self.stop_requested = self.progress.update == 3

    update = Trainer._update
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", stop_after_three)
        assert rnnsearch(*command, "--output", tmp_path / "parts").status == 130
    longer = rnnsearch(*command, "--output", tmp_path / "parts", "--resume")
    assert longer.status == 0, longer.err
    for name in ("model.safetensors", "data/held-out.source", "data/train.arrow"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    rows = [record(tmp_path / name)["validations"] for name in ("whole", "parts")]
    assert timeless(rows[0]) == timeless(rows[1])

    weights = (tmp_path / "whole" / "model.safetensors").read_bytes()
    for other, told in ((["--hold-out", 11], "--hold-out 10"), (valid_of(tmp_path), "--hold-out 10")):
        done = rnnsearch("train", *text, *other, *TINY, "--output", tmp_path / "whole", "--resume")
        refused(done, "10 pairs held out", told)
    assert (tmp_path / "whole" / "model.safetensors").read_bytes() == weights


def valid_of(folder: Path) -> list[object]:
    source, target = write_pairs(folder, "valid", 6, seed=2)
    return ["--valid-source", source, "--valid-target", target]


@pytest.mark.slow
def test_prepared_data_bring_their_held_out_pairs(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    prepared = rnnsearch("prepare", *text, "--hold-out", 10, *TINY[:2], "--output", tmp_path / "data")
    assert prepared.status == 0, prepared.err
    done = rnnsearch("train", "--data", tmp_path / "data", *TINY[2:], "--output", tmp_path / "model")
    assert done.status == 0, done.err
    raw = rnnsearch("train", *text, "--hold-out", 10, *TINY, "--output", tmp_path / "raw")
    assert raw.status == 0, raw.err
    assert record(tmp_path / "model")["dev_nll"] == record(tmp_path / "raw")["dev_nll"]

    again = ["train", "--data", tmp_path / "data", *TINY[2:], "--output", tmp_path / "more"]
    refused(rnnsearch(*again, "--hold-out", 10), "--hold-out 10", "`rnnsearch prepare`")
    plain = rnnsearch("prepare", *text, *TINY[:2], "--output", tmp_path / "data")
    assert plain.status == 0, plain.err
    refused(rnnsearch(*again), tmp_path / "data", "no pairs were held out", "--valid-source and --valid-target")
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--hold-out", "0"], ["--valid-source and --valid-target", "--hold-out N"]),
        (["--hold-out", "1000"], ["cannot hold out 1,000 pairs", "only"]),
        (["--hold-out", "5", "--valid-source", "a", "--valid-target", "b"], ["either", "not both"]),
    ],
)
def test_what_is_no_development_set(
    rnnsearch: Run, text: list[object], tmp_path: Path, given: list[str], told: list[str]
) -> None:
    refused(rnnsearch("train", *text, *given, *TINY, "--output", tmp_path / "model"), *told)
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
def test_settings_of_the_text_come_with_prepared_data(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    """A file of settings may repeat them, as `presets` writes all of them; it may not ask for others."""
    prepared = rnnsearch("prepare", *text, "--hold-out", 6, *TINY[:2], "--output", tmp_path / "data")
    assert prepared.status == 0, prepared.err
    same, other = tmp_path / "same.toml", tmp_path / "other.toml"
    same.write_text('[data]\ntokenizer = "whitespace"\nsource_language = "auto"\nmax_length = 50\n')
    other.write_text('[data]\ntokenizer = "whitespace"\nmax_length = 7\n')
    command = ["train", "--data", tmp_path / "data", *TINY[2:], "--output", tmp_path / "model"]
    refused(rnnsearch(*command, "--config", other), "data.max_length = 7", "`prepare`", "50")
    refused(rnnsearch(*command, "--set", "data.max_length=7"), "data.max_length = 7")
    assert not (tmp_path / "model").exists()
    assert rnnsearch(*command, "--config", same).status == 0
    fine_tune = ["train", *text, "--hold-out", 6, "--from", tmp_path / "model", "--output", tmp_path / "more"]
    other.write_text("[model]\nhidden_size = 9\n")
    refused(rnnsearch(*fine_tune, "--config", other), "model.hidden_size = 9", "--from", tmp_path / "model")
    assert settings("small", same, None).data.tokenizer == "whitespace"


def test_a_validation_that_is_not_a_number_is_null_in_the_record(
    rnnsearch: Run, text: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON has no NaN, and strict readers refuse it."""

    def not_a_number(*arguments: object) -> NLL:
        return NLL(float("nan"), float("nan"))

    for module in (validation, session):
        monkeypatch.setattr(module, "negative_log_likelihood", not_a_number)
    last_weights = ("--set", "training.weight_average=0")
    done = rnnsearch("train", *text, "--hold-out", 6, *TINY, *last_weights, "--output", tmp_path / "model")
    assert done.status == 0, done.err

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    written = json.loads((tmp_path / "model" / "training.json").read_text(), parse_constant=refuse)
    assert written["dev_nll"] is None
    assert written["validations"][0]["valid_nll"] is None
