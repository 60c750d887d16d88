"""A training that is killed at any moment, and resumed, ends as if nothing had happened: byte for byte."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from running import ALL_CORES, COMMAND, ENVIRONMENT, rnnsearch, start
from safetensors.numpy import load_file

from toy import timeless, write_pairs

pytestmark = [pytest.mark.system, pytest.mark.slow]

SETTINGS = {
    "data.tokenizer": "whitespace",
    "data.minimum_count": 1,
    "model.embedding_size": 16,
    "model.hidden_size": 24,
    "model.alignment_size": 12,
    "model.maxout_size": 12,
    "training.batch_size": 16,
    "training.pool_batches": 5,
    "training.max_updates": 60,
    "training.validate_every": 13,
    "training.checkpoint_every": 5,
    "training.dropout": 0.2,
    "training.weight_average": 0.9,
    "training.warmup_updates": 10,
    "training.decay": "plateau",
    "training.patience": 0,
    "training.shuffle": "epoch",
}
WEIGHTS, CHECKPOINT = Path("model.safetensors"), Path("checkpoints") / "last.safetensors"

# Kills itself in the middle of the n-th time that a file is about to get its final name (or just has got it).
KILLED_WHILE_WRITING = """
import os, pathlib, signal, sys
count, name, after = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "after"
del sys.argv[1:4]
replace = pathlib.Path.replace
def counting(self, target):
    global count
    count -= pathlib.Path(target).name == name
    if count == 0:
        if after:
            replace(self, target)
        else:
            with self.open("rb+") as file:  # half of it is on the disk
                file.truncate(os.fstat(file.fileno()).st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
pathlib.Path.replace = counting
from rnnsearch.cli import main
main()
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("texts")
    files = {}
    for name, pairs, seed in (("train", 200, 1), ("valid", 20, 2)):
        files[name] = write_pairs(folder, name, pairs, seed)
    train, valid = files["train"], files["valid"]
    return [
        *("--source", str(train[0]), "--target", str(train[1])),
        *("--valid-source", str(valid[0]), "--valid-target", str(valid[1])),
    ]


def command(texts: list[str], output: Path, **settings: object) -> list[str]:
    values = {**SETTINGS, **settings}
    given = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    return ["train", *texts, "--output", str(output), *given]


@pytest.fixture(scope="module")
def uninterrupted(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By a Python of its own: with another hash seed than the runs that are killed."""
    output = tmp_path_factory.mktemp("uninterrupted") / "model"
    rnnsearch(*command(texts, output), cold=True)
    return output


def rows(output: Path) -> list[dict[str, Any]]:
    validations: list[dict[str, Any]] = json.loads((output / "training.json").read_text())["validations"]
    return timeless(validations)


def same(output: Path, uninterrupted: Path) -> None:
    assert (output / WEIGHTS).read_bytes() == (uninterrupted / WEIGHTS).read_bytes(), "the best model"
    expected, found = load_file(uninterrupted / CHECKPOINT), load_file(output / CHECKPOINT)
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        assert found[name].tobytes() == array.tobytes(), f"{name} in the checkpoint"
    assert rows(output) == rows(uninterrupted)


def update_of(checkpoint: Path) -> int:
    """The update that a checkpoint was written after."""
    from safetensors import safe_open

    with safe_open(checkpoint, "np") as file:
        update: int = json.loads(file.metadata()["progress"])["update"]
    return update


def wait_for(process: subprocess.Popen[str], path: Path) -> None:
    end = time.monotonic() + 300
    while not path.exists():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.002)


def finish(texts: list[str], output: Path, **settings: object) -> None:
    rnnsearch(*command(texts, output, **settings), "--resume")


def test_the_run_is_one_that_could_differ(uninterrupted: Path) -> None:
    """Several epochs, validations with and without a gain, a learning rate that has been lowered."""
    record = json.loads((uninterrupted / "training.json").read_text())
    assert record["updates"] == 60
    assert record["epochs"] > 3
    assert len(record["validations"]) == 5
    assert load_file(uninterrupted / WEIGHTS).keys() < {
        name.removeprefix("model/") for name in load_file(uninterrupted / CHECKPOINT)
    }


def test_killed_as_soon_as_there_is_a_checkpoint(texts: list[str], uninterrupted: Path, tmp_path: Path) -> None:
    output = tmp_path / "model"
    process = start(*command(texts, output))
    wait_for(process, output / CHECKPOINT)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert update_of(output / CHECKPOINT) < 60
    finish(texts, output)
    same(output, uninterrupted)


@pytest.mark.parametrize(
    ("count", "name", "moment"),
    [
        (1, "last.safetensors", "before"),
        pytest.param(4, "last.safetensors", "before", marks=pytest.mark.nightly),
        (2, "model.safetensors", "before"),
        (2, "model.safetensors", "after"),
        pytest.param(12, "last.safetensors", "after", marks=pytest.mark.nightly),
    ],
)
def test_killed_while_a_file_is_being_written(
    texts: list[str], uninterrupted: Path, tmp_path: Path, count: int, name: str, moment: str
) -> None:
    """What was there is whole, and the run goes on from it."""
    output = tmp_path / "model"
    program = [sys.executable, "-c", KILLED_WHILE_WRITING, str(count), name, moment]
    process = start(*command(texts, output), program=program)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    if (output / CHECKPOINT).exists():
        assert update_of(output / CHECKPOINT) % 5 == 0
    finish(texts, output)
    same(output, uninterrupted)


@pytest.mark.nightly
def test_killed_again_and_again_at_random(texts: list[str], uninterrupted: Path, tmp_path: Path) -> None:
    """Also while it starts, prepares the text, validates, or ends."""
    output = tmp_path / "model"
    random = Random(4)
    for attempt in range(4):
        process = start(*command(texts, output), "--resume", cold=attempt == 0)
        if attempt:
            wait_for(process, output / CHECKPOINT)
        time.sleep(random.uniform(0, 1.5) if attempt else random.uniform(0.5, 3.0))
        process.kill()
        process.communicate()
    finish(texts, output)
    same(output, uninterrupted)


def test_killed_while_all_cores_work(texts: list[str], tmp_path: Path) -> None:
    """Sums over several threads are rounded otherwise than over one, but always in the same way."""
    undisturbed, output = tmp_path / "undisturbed", tmp_path / "model"
    rnnsearch(*command(texts, undisturbed), environment=ALL_CORES)
    program = [sys.executable, "-c", KILLED_WHILE_WRITING, "7", CHECKPOINT.name, "before"]
    process = start(*command(texts, output), program=program, environment=ALL_CORES)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    rnnsearch(*command(texts, output), "--resume", environment=ALL_CORES)
    same(output, undisturbed)


@pytest.mark.nightly
@pytest.mark.parametrize("subwords", ["bpe", "unigram"])
def test_killed_while_words_are_segmented_at_random(texts: list[str], tmp_path: Path, subwords: str) -> None:
    """Every minibatch has the segmentation that it would have had; so have those of two equal runs."""
    settings: dict[str, object] = {
        "data.subwords": subwords,
        "data.subword_pieces": 60,
        "training.subword_sampling": 0.2,
        "training.max_updates": 40,
    }
    undisturbed, output = tmp_path / "undisturbed", tmp_path / "model"
    rnnsearch(*command(texts, undisturbed, **settings))
    for count, moment in ((3, "before"), (2, "after")):
        program = [sys.executable, "-c", KILLED_WHILE_WRITING, str(count), CHECKPOINT.name, moment]
        process = start(*command(texts, output, **settings), "--resume", program=program)
        process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL
    assert 0 < update_of(output / CHECKPOINT) < 40
    finish(texts, output, **settings)
    same(output, undisturbed)
    for name in ("source.subwords", "target.vocab", "train.arrow"):
        assert (output / "data" / name).read_bytes() == (undisturbed / "data" / name).read_bytes(), name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop(texts: list[str], uninterrupted: Path, tmp_path: Path, number: signal.Signals) -> None:
    """It writes a checkpoint, says how to go on, and goes on."""
    output = tmp_path / "model"
    process = start(*command(texts, output, **{"training.checkpoint_every": 1000, "training.max_updates": 100_000}))
    wait_for(process, output / WEIGHTS)  # the first validation
    assert update_of(output / CHECKPOINT) == 0, "there is more to lose than this test means to"
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "--resume" in err
    stopped_at = update_of(output / CHECKPOINT)
    assert f"stopped at update {stopped_at}" in err.replace(",", "")
    if stopped_at < 60:
        finish(texts, output)
        same(output, uninterrupted)
    else:
        rnnsearch(*command(texts, output, **{"training.max_updates": stopped_at + 5}), "--resume")
        assert update_of(output / CHECKPOINT) == stopped_at + 5


def test_interrupted_while_it_starts(texts: list[str], tmp_path: Path) -> None:
    """Ctrl-C before there is anything to save: no traceback, and the same command starts afresh."""
    process = start(*command(texts, tmp_path / "model"))
    wait_for(process, tmp_path / "model")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    rnnsearch(*command(texts, tmp_path / "model", **{"training.max_updates": 5}), "--resume")


@pytest.mark.nightly
def test_code_that_was_just_compiled_trains_like_code_from_the_cache(
    texts: list[str], uninterrupted: Path, tmp_path: Path
) -> None:
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    rnnsearch(*command(texts, tmp_path / "compiled"), cold=True, environment=environment)
    assert any((tmp_path / "cache").rglob("*.nbc"))
    rnnsearch(*command(texts, tmp_path / "cached"), cold=True, environment=environment)
    same(tmp_path / "compiled", uninterrupted)
    same(tmp_path / "cached", uninterrupted)


def test_two_trainings_in_one_folder(texts: list[str], uninterrupted: Path, tmp_path: Path) -> None:
    """The second is refused, and the first does not notice; once that is killed, the folder is free."""
    output = tmp_path / "model"
    first = start(*command(texts, output))
    wait_for(first, output / CHECKPOINT)
    first.send_signal(signal.SIGSTOP)  # it is not to end before the second begins
    second = start(*command(texts, output), "--resume")
    _, err = second.communicate(timeout=300)
    assert second.returncode == 2
    assert f"{output}: another training is at work there" in err
    assert "Traceback" not in err
    first.kill()
    first.communicate()
    finish(texts, output)
    same(output, uninterrupted)


def test_a_command_that_is_refused_leaves_no_folder(texts: list[str], tmp_path: Path) -> None:
    process = start(*command(["--source", str(tmp_path / "absent"), *texts[2:]], tmp_path / "model"))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert list(tmp_path.iterdir()) == []


def test_no_half_written_file_is_left(texts: list[str], tmp_path: Path) -> None:
    """Otherwise a machine that loses power now and then fills its disk with parts of checkpoints."""
    output = tmp_path / "model"
    program = [sys.executable, "-c", KILLED_WHILE_WRITING, "2", CHECKPOINT.name, "before"]
    process = start(*command(texts, output, **{"training.max_updates": 30}), program=program)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    rnnsearch(*command(texts, output, **{"training.max_updates": 30}), "--resume")
    assert [path.name for path in output.rglob(".*partial")] == []


def test_the_command_is_installed() -> None:
    """What the other tests start is what `rnnsearch` starts."""
    from importlib.metadata import entry_points

    (entry,) = entry_points(group="console_scripts", name="rnnsearch")
    assert entry.value == "rnnsearch.cli:main"
    assert "rnnsearch.cli import main" in COMMAND[-1]
