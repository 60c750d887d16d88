"""A checkpoint gives back exactly what was saved, or says why it cannot."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import numpy, safe_open
from safetensors.torch import load_file, save_file

import poison
from rnnsearch.errors import RnnsearchError
from rnnsearch.training.average import WeightAverage
from rnnsearch.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from rnnsearch.training.optimizer import make_optimizer
from rnnsearch.training.tensor_files import checksum
from rnnsearch.training.trainer import CHECKPOINT, Trainer
from toy import Recorder, toy_config, toy_system, toy_trainer

SETTINGS: dict[str, Any] = {"max_updates": 3, "validate_every": 2, "dropout": 0.1}


def run(folder: Path, **training: object) -> Trainer:
    trainer = toy_trainer(folder, toy_config(training={**SETTINGS, **training}), pairs=40)
    trainer.run(Recorder())
    return trainer


@pytest.mark.parametrize("decay", [0.0, 0.9])
@pytest.mark.parametrize("optimizer", ["adam", "adadelta"])
def test_round_trip(tmp_path: Path, optimizer: str, decay: float) -> None:
    trainer = run(tmp_path, optimizer=optimizer, weight_average=decay)
    random = torch.get_rng_state()
    torch.rand(3)

    system = toy_system(trainer.system.config)
    fresh = make_optimizer(system.model.parameters(), trainer.settings)
    average = WeightAverage(system.model, decay) if decay else None
    progress = load_checkpoint(tmp_path / CHECKPOINT, system.model, fresh, average)

    assert asdict(progress) == asdict(trainer.progress)
    assert torch.equal(torch.get_rng_state(), random)
    for name, parameter in trainer.system.model.named_parameters():
        restored = system.model.get_parameter(name)
        assert torch.equal(restored, parameter), name
        ours, theirs = fresh.state[restored], trainer.optimizer.state[parameter]
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], theirs[key]) and ours[key].dtype == theirs[key].dtype for key in ours), name
    if average and trainer.average:
        assert all(torch.equal(trainer.average.weights[name], value) for name, value in average.weights.items())
    torch.set_rng_state(random)
    save_checkpoint(tmp_path / "again.safetensors", system.model, fresh, average, progress)
    with safe_open(tmp_path / CHECKPOINT, "np") as one, safe_open(tmp_path / "again.safetensors", "np") as other:
        assert one.metadata() == other.metadata()
        assert one.keys() == other.keys()
        assert all((one.get_tensor(key) == other.get_tensor(key)).all() for key in one.keys())  # noqa: SIM118


numbers = st.floats(allow_nan=False, allow_infinity=False)
names = ("train_nll", "valid_nll", "valid_nll_per_sentence", "valid_bleu", "learning_rate", "epoch", "hours")
rows = st.fixed_dictionaries({"update": st.integers(0, 10**9), **dict.fromkeys(names, numbers)})


@settings(max_examples=20)
@given(
    progress=st.builds(
        Progress,
        update=st.integers(0, 10**9),
        seconds=st.floats(0, allow_infinity=False),
        plateau_factor=st.floats(0, 1),
        best_score=st.none() | numbers,
        interval_nll=numbers,
        validations=st.lists(rows, max_size=3),
        finished=st.text(),
    )
)
def test_progress_is_exact(tmp_path_factory: pytest.TempPathFactory, progress: Progress) -> None:
    path = tmp_path_factory.mktemp("checkpoint") / "last.safetensors"
    system = toy_system(toy_config())
    optimizer = make_optimizer(system.model.parameters(), system.config.training)
    save_checkpoint(path, system.model, optimizer, None, progress)
    assert load_checkpoint(path, system.model, optimizer, None) == progress


def test_an_average_cannot_begin_half_way(tmp_path: Path) -> None:
    trainer = run(tmp_path)
    average = WeightAverage(trainer.system.model, 0.9)
    with pytest.raises(RnnsearchError, match="weight_average cannot be set when a run goes on"):
        load_checkpoint(tmp_path / CHECKPOINT, trainer.system.model, trainer.optimizer, average)


@pytest.fixture(scope="module")
def checkpoint_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    run(folder)
    return folder / CHECKPOINT


@pytest.fixture(scope="module")
def checkpoint(checkpoint_file: Path) -> bytes:
    return checkpoint_file.read_bytes()


def resume(folder: Path, **sections: dict[str, Any]) -> None:
    sections["training"] = {**SETTINGS, "max_updates": 5, **sections.get("training", {})}
    trainer = toy_trainer(folder, toy_config(**sections), pairs=40)
    trainer.resume()
    trainer.run(Recorder())


def write_checkpoint(folder: Path, content: bytes) -> Path:
    path = folder / CHECKPOINT
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


@given(st.integers(0, 10**9))
def test_tensors_altered_under_a_matching_checksum(
    checkpoint_file: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """They are refused, or a training goes on from numbers that are finite."""
    path = write_checkpoint(tmp_path_factory.mktemp("altered"), checkpoint_file.read_bytes())
    with safe_open(path, "np") as file:
        metadata = file.metadata()
    for attempt in range(2):
        altered, what = poison.alter(numpy.load_file(checkpoint_file), Random(f"{seed} {attempt}"))
        numpy.save_file(altered, path)
        stated = checksum(load_file(path), metadata["progress"], metadata["optimizer"])
        numpy.save_file(altered, path, metadata | {"crc32": stated})

        def load() -> bool:
            system = toy_system(toy_config())
            optimizer = make_optimizer(system.model.parameters(), toy_config(training=SETTINGS).training)
            load_checkpoint(path, system.model, optimizer, None)
            squares = (state["exp_avg_sq"] for state in optimizer.state.values())
            return all(bool(part.isfinite().all()) for part in (*system.model.parameters(), *(s.sqrt() for s in squares)))

        assert poison.in_child(load) in ("sound", "refused"), what


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.5, 0.999])
def test_cut_short(tmp_path: Path, checkpoint: bytes, share: float) -> None:
    path = write_checkpoint(tmp_path, checkpoint[: int(share * len(checkpoint))])
    with pytest.raises(RnnsearchError, match="not a whole safetensors file") as raised:
        resume(tmp_path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("content", [b"garbage" * 1000, b"\x00" * 100, b"\xff" * 100, b"{}"])
def test_garbage(tmp_path: Path, content: bytes) -> None:
    write_checkpoint(tmp_path, content)
    with pytest.raises(RnnsearchError, match="not a whole safetensors file"):
        resume(tmp_path)


@pytest.mark.parametrize("metadata", [None, {}, {"progress": "{"}, {"progress": "[]"}, {"progress": '{"odd": 1}'}])
def test_without_its_progress(tmp_path: Path, checkpoint: bytes, metadata: dict[str, str] | None) -> None:
    path = write_checkpoint(tmp_path, checkpoint)
    save_file(load_file(path), path, metadata=metadata)
    with pytest.raises(RnnsearchError, match="not a checkpoint"):
        resume(tmp_path)


def test_without_the_random_state(tmp_path: Path, checkpoint: bytes) -> None:
    change(tmp_path, checkpoint, lambda tensors: tensors.pop("random"))
    with pytest.raises(RnnsearchError, match="not a checkpoint"):
        resume(tmp_path)


def test_with_a_damaged_random_state(tmp_path: Path, checkpoint: bytes) -> None:
    change(tmp_path, checkpoint, lambda tensors: tensors.update(random=torch.zeros(3)))
    with pytest.raises(RnnsearchError, match="not a checkpoint"):
        resume(tmp_path)


def test_without_a_tensor(tmp_path: Path, checkpoint: bytes) -> None:
    change(tmp_path, checkpoint, lambda tensors: tensors.pop("model/decoder.W_s"))
    with pytest.raises(RnnsearchError, match=r"no tensor 'decoder\.W_s'"):
        resume(tmp_path)


def change(folder: Path, checkpoint: bytes, edit: Any) -> None:
    path = write_checkpoint(folder, checkpoint)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    del metadata["crc32"]  # so that what is wrong with the tensors is found, not only that they have changed
    tensors = load_file(path)
    edit(tensors)
    save_file(tensors, path, metadata=metadata)


@pytest.mark.parametrize("model", [{"hidden_size": 7}, {"alignment": "none"}, {"cell": "lstm"}])
def test_of_another_model(tmp_path: Path, checkpoint: bytes, model: dict[str, Any]) -> None:
    write_checkpoint(tmp_path, checkpoint)
    with pytest.raises(RnnsearchError, match=r"last\.safetensors"):
        resume(tmp_path, model=model)


def test_of_another_optimizer(tmp_path: Path, checkpoint: bytes) -> None:
    write_checkpoint(tmp_path, checkpoint)
    with pytest.raises(RnnsearchError, match="optimizer"):
        resume(tmp_path, training={"optimizer": "adadelta"})


def test_a_failed_write_leaves_the_last_checkpoint(
    tmp_path: Path, checkpoint: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_checkpoint(tmp_path, checkpoint)
    system = toy_system(toy_config())
    optimizer = make_optimizer(system.model.parameters(), system.config.training)

    def disk_full(tensors: object, filename: Path, metadata: object) -> None:
        filename.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rnnsearch.training.tensor_files.save_file", disk_full)
    with pytest.raises(RnnsearchError, match="no space left"):
        save_checkpoint(path, system.model, optimizer, None, Progress())
    assert path.read_bytes() == checkpoint
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("update", "5"), ("update", -1), ("update", 2.5), ("update", True), ("update", 10**30), ("seconds", math.nan),
        ("seconds", -1.0), ("precision", "fp64"), ("plateau_factor", 2.0), ("plateau_factor", None), ("best_score", "x"),
        ("best_score", []), ("validations", {}), ("validations", [1]), ("validations", [{}]), ("finished", None),
        ("validations", [{"update": "x"}]), ("interval_nll", math.inf), ("odd", 1),
    ],
)  # fmt: skip
def test_with_odd_values(tmp_path: Path, checkpoint: bytes, name: str, value: object) -> None:
    """One line that names the value, whatever was done to the JSON."""
    path = write_checkpoint(tmp_path, checkpoint)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    progress = json.dumps({**json.loads(metadata["progress"]), name: value})
    save_file(load_file(path), path, {**metadata, "progress": progress})
    with pytest.raises(RnnsearchError, match="its bytes are not those that were written"):
        resume(tmp_path)
    save_file(load_file(path), path, {"progress": progress, "optimizer": metadata["optimizer"]})  # of version 0.1
    with pytest.raises(RnnsearchError, match=f"not a checkpoint.*{name}") as raised:
        resume(tmp_path)
    assert "\n" not in str(raised.value)


def test_without_a_part_of_the_state(tmp_path: Path, checkpoint: bytes) -> None:
    change(tmp_path, checkpoint, lambda tensors: tensors.pop("optimizer/decoder.W_s/exp_avg"))
    with pytest.raises(RnnsearchError, match=r"the optimizer's state of decoder\.W_s does not fit"):
        resume(tmp_path)


def test_every_byte_that_changes_is_found(tmp_path: Path, checkpoint: bytes) -> None:
    path, random = write_checkpoint(tmp_path, checkpoint), Random(1)
    trainer = toy_trainer(tmp_path, toy_config(training={**SETTINGS, "max_updates": 5}), pairs=40)
    for _ in range(60):
        damaged = bytearray(checkpoint)
        damaged[random.randrange(len(checkpoint))] ^= random.randrange(1, 256)
        path.write_bytes(damaged)
        with pytest.raises(RnnsearchError):
            trainer.resume()
