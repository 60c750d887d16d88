"""`rnnsearch train`, as a user types it: what it leaves, how it goes on, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_line import Run, refused
from toy import write_pairs

TINY = [
    *("--set", "data.tokenizer=whitespace"),
    *("--set", "model.embedding_size=8"),
    *("--set", "model.hidden_size=8"),
    *("--set", "model.alignment_size=6"),
    *("--set", "model.maxout_size=6"),
    *("--set", "training.max_updates=4"),
    *("--set", "training.validate_every=2"),
    *("--set", "training.checkpoint_every=2"),
    *("--set", "training.batch_size=8"),
]


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, Path]:
    source, target = write_pairs(tmp_path, "train", 60, seed=1)
    valid_source, valid_target = write_pairs(tmp_path, "valid", 6, seed=2)
    return {"source": source, "target": target, "valid-source": valid_source, "valid-target": valid_target}


def options(texts: dict[str, Path]) -> list[str]:
    return [word for name, path in texts.items() for word in (f"--{name}", str(path))]


def test_train_and_what_it_leaves(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    output = tmp_path / "model"
    done = rnnsearch("train", *options(texts), "--output", output, *TINY)
    assert done.status == 0, done.err
    assert "validation at update 2" in done.err
    record = json.loads((output / "training.json").read_text())
    assert record["updates"] == 4
    assert record["training_pairs"] == 60
    assert [row["update"] for row in record["validations"]] == [2, 4]
    for key in ("epochs", "hours", "device", "train_nll", "dev_nll"):
        assert record[key] is not None
    config = json.loads((output / "config.json").read_text())
    assert config["data"]["source_language"] == "en"
    assert "RNNsearch, en → fr" in (output / "README.md").read_text(encoding="utf-8")
    assert rnnsearch("translate", "--model", output, texts["valid-source"]).status == 0

    # A second training must not destroy the first; the same command with --resume has nothing left to do.
    weights = (output / "model.safetensors").read_bytes()
    refused(rnnsearch("train", *options(texts), "--output", output, *TINY), output, "--resume")
    assert rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume").status == 0
    assert (output / "model.safetensors").read_bytes() == weights
    for setting in ("model.hidden_size=9", "model.cell=lstm", "data.max_length=7"):
        done = rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume", "--set", setting)
        refused(done, setting.split("=")[0], setting.split("=")[1])
    assert (output / "model.safetensors").read_bytes() == weights
    longer = rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume", "--set", "training.max_updates=6")
    assert longer.status == 0, longer.err
    assert json.loads((output / "training.json").read_text())["updates"] == 6

    (output / "checkpoints" / "last.safetensors").unlink()
    refused(rnnsearch("train", *options(texts), "--output", output, *TINY), output, "trained model")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["search.protect=1e9"], "search.protect: this model does not know the symbols that stand for spans"),
        (["search.protect=(", "data.protect=true", "data.tokenizer=moses"], "'(' is no regular expression"),
    ],
)
def test_patterns_that_a_validation_would_refuse_are_refused_before_anything_is_read(
    rnnsearch: Run, texts: dict[str, Path], tmp_path: Path, settings: list[str], told: str
) -> None:
    more = [word for setting in settings for word in ("--set", setting)]
    refused(rnnsearch("train", *options(texts), "--output", tmp_path / "model", *TINY, *more), told)
    assert not [path for path in (tmp_path / "model").rglob("*") if path.name != ".lock"]


def test_a_checkpoint_that_is_damaged(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    output = tmp_path / "model"
    assert rnnsearch("train", *options(texts), "--output", output, *TINY).status == 0
    checkpoint = output / "checkpoints" / "last.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    done = rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume")
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith(f"rnnsearch: {checkpoint}: not a whole safetensors file")
    assert "Traceback" not in done.err


def test_resuming_with_another_optimizer(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    """One line, not a traceback."""
    output = tmp_path / "model"
    assert rnnsearch("train", *options(texts), "--output", output, *TINY).status == 0
    change = ["--set", "training.optimizer=adadelta", "--set", "training.max_updates=6"]
    done = rnnsearch("train", *options(texts), "--output", output, *TINY, *change, "--resume")
    assert done.status == 2
    assert "optimizer" in done.err.splitlines()[-1]


def test_resume_where_there_is_nothing_is_a_new_run(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    done = rnnsearch("train", *options(texts), "--output", tmp_path / "model", *TINY, "--resume")
    assert done.status == 0
    assert "new run" in done.err


def test_train_on_prepared_data_and_resume(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    """The same command with --resume goes on, although the data were prepared with settings of their own."""
    data, output = tmp_path / "data", tmp_path / "model"
    prepared = rnnsearch(
        *("prepare", "--source", texts["source"], "--target", texts["target"], "--output", data),
        *("--set", "data.source_words=12", "--set", "data.tokenizer=whitespace"),
    )
    assert prepared.status == 0, prepared.err
    assert "60 kept" in prepared.err
    valid = ["--valid-source", texts["valid-source"], "--valid-target", texts["valid-target"]]
    command = ["train", "--data", data, *valid, "--output", output, *TINY[2:]]
    assert rnnsearch(*command).status == 0
    assert json.loads((output / "config.json").read_text())["data"]["source_words"] == 12
    done = rnnsearch(*command, "--resume")
    assert done.status == 0, done.err
    done = rnnsearch(*command, "--resume", "--set", "data.source_words=13")
    assert done.status == 2
    assert "prepare" in done.err


def test_a_run_is_not_resumed_on_other_prepared_data(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    """Though it has as many words; and the run is left as it was."""
    other = write_pairs(tmp_path / "other", "train", 60, seed=5)
    for name, (source, target) in (("data", (texts["source"], texts["target"])), ("more", other)):
        words = ("--set", "data.source_words=12", "--set", "data.target_words=12")
        done = rnnsearch("prepare", "--source", source, "--target", target, "--output", tmp_path / name, *words, *TINY[:2])
        assert done.status == 0, done.err
    valid = ["--valid-source", texts["valid-source"], "--valid-target", texts["valid-target"]]
    command = ["train", *valid, "--output", tmp_path / "model", *TINY[2:]]
    assert rnnsearch(*command, "--data", tmp_path / "data").status == 0
    before = {path: path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file()}
    longer = [*command, "--set", "training.max_updates=8", "--resume"]
    refused(rnnsearch(*longer, "--data", tmp_path / "more"), tmp_path / "more", "not the text")
    assert {path: path.read_bytes() for path in before} == before
    done = rnnsearch(*longer, "--data", tmp_path / "data")
    assert done.status == 0, done.err


def test_a_model_without_a_checkpoint_is_not_trained_over(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    output = tmp_path / "model"
    assert rnnsearch("train", *options(texts), "--output", output, *TINY).status == 0
    shutil.rmtree(output / "checkpoints")
    weights = (output / "model.safetensors").read_bytes()
    refused(rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume"), output, "--from")
    assert (output / "model.safetensors").read_bytes() == weights


def test_a_folder_is_a_runs_own_before_its_first_update(
    rnnsearch: Run, texts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", *options(texts), "--output", tmp_path / "model", *TINY]
    with monkeypatch.context() as patch:
        patch.setattr("rnnsearch.training.trainer.Trainer._update", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rnnsearch(*command)
    refused(rnnsearch(*command), tmp_path / "model", "--resume")
    assert rnnsearch(*command, "--resume").status == 0


def test_settings_of_the_model_that_is_started_from(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    model, more = tmp_path / "model", ("--output", tmp_path / "more")
    assert rnnsearch("train", *options(texts), "--output", model, *TINY).status == 0
    begun = ("train", *options(texts), *more, "--from", model)
    refused(rnnsearch(*begun, "--set", "model.hidden_size=9"), "model.hidden_size", "--from", model)
    refused(rnnsearch(*begun, "--set", "data.max_length=9"), "data.max_length", "--from", model)
    prepare = ("prepare", "--source", texts["source"], "--target", texts["target"], *more, "--vocabulary-of", model)
    refused(rnnsearch(*prepare, "--set", "data.max_length=9"), "data.max_length", "--vocabulary-of", model)
    assert not (tmp_path / "more").exists()


def test_validation_is_greedy_whatever_the_model_is_to_be_searched_with(
    rnnsearch: Run, texts: dict[str, Path], tmp_path: Path
) -> None:
    found = []
    odd = ("--set", "search.vocabulary_selection=5", "--set", "search.temperature=5")
    for name, search in (("plain", ()), ("odd", odd)):
        done = rnnsearch("train", *options(texts), "--output", tmp_path / name, *TINY, *search)
        assert done.status == 0, done.err
        record = json.loads((tmp_path / name / "training.json").read_text())
        found.append([row["valid_bleu"] for row in record["validations"]])
    assert found[0] == found[1]


def test_a_run_is_resumed_on_its_own_text(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    output = tmp_path / "model"
    assert rnnsearch("train", *options(texts), "--output", output, *TINY).status == 0
    with texts["target"].open("a") as file:
        file.write("un chat .\n")
    with texts["source"].open("a") as file:
        file.write("a cat .\n")
    done = rnnsearch("train", *options(texts), "--output", output, *TINY, "--resume")
    refused(done, output, "train.en", "changed")


def test_a_run_that_was_stopped_before_its_first_checkpoint_leaves_no_old_text(
    rnnsearch: Run, texts: dict[str, Path], tmp_path: Path
) -> None:
    """Its prepared text may be there: a new run has its own text and its own settings."""
    output = tmp_path / "model"
    old = write_pairs(tmp_path / "old", "old", 30, seed=99)
    prepared = rnnsearch("prepare", "--source", old[0], "--target", old[1], "--output", output / "data", *TINY[:2])
    assert prepared.status == 0, prepared.err
    done = rnnsearch("train", *options(texts), "--output", output, *TINY, "--set", "data.source_words=15")
    assert done.status == 0, done.err
    record = json.loads((output / "training.json").read_text())
    assert record["data"]["source_files"][0]["name"] == "train.en"
    assert record["training_pairs"] == 60
    assert json.loads((output / "config.json").read_text())["data"]["source_words"] == 15


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "training.droput=0.1"], "training.dropout"),
        (["--set", "training.dropout=2"], "training.dropout = '2'"),
        (["--preset", "huge"], "huge"),
        (["--config", "none.toml"], "none.toml: No such file"),
    ],
)
def test_train_refuses_settings(
    rnnsearch: Run, texts: dict[str, Path], tmp_path: Path, arguments: list[str], told: str
) -> None:
    refused(rnnsearch("train", *options(texts), "--output", tmp_path / "model", *arguments), told)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("which", ["source", "target", "valid-source", "valid-target"])
@pytest.mark.parametrize("wrong", ["missing", "bytes", "lines"])
def test_train_refuses_text(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path, which: str, wrong: str) -> None:
    """And leaves nothing behind."""
    path = texts[which]
    lines = path.read_bytes().splitlines(keepends=True)
    if wrong == "missing":
        path.unlink()
    elif wrong == "bytes":
        path.write_bytes(b"".join([*lines[:2], b"caf\xe9\n", *lines[3:]]))
    else:
        path.write_bytes(b"".join(lines[:-1]))
    done = rnnsearch("train", *options(texts), "--output", tmp_path / "model", *TINY)
    told = {"missing": "no such file", "bytes": ":3: not valid UTF-8", "lines": f"has {len(lines) - 1}"}[wrong]
    refused(done, path, told)
    assert not (tmp_path / "model").exists()


def test_train_refuses_an_empty_development_set(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    texts["valid-source"].write_text("\n\n")
    texts["valid-target"].write_text("\n\n")
    done = rnnsearch("train", *options(texts), "--output", tmp_path / "model", *TINY)
    refused(done, "no sentence pairs to validate on")


def test_train_needs_text(rnnsearch: Run, texts: dict[str, Path], tmp_path: Path) -> None:
    valid = ["--valid-source", texts["valid-source"], "--valid-target", texts["valid-target"], "--output", tmp_path]
    for arguments in ([], ["--source", texts["source"]]):
        done = rnnsearch("train", *valid, *arguments)
        assert done.status == 2
        assert "--source and --target" in done.err
    done = rnnsearch("train", *options(texts), "--output", tmp_path / "model", "--data", tmp_path)
    assert done.status == 2
    assert "either --data" in done.err
    refused(rnnsearch("train", *valid, "--data", tmp_path / "none"), "no prepared data")
