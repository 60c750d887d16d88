"""Several processes that train one model: the same bits as one, whatever happens to them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from running import COMMAND, ENVIRONMENT, rnnsearch, start
from safetensors.numpy import load_file
from test_kill_and_resume import CHECKPOINT, WEIGHTS, same, wait_for
from test_kill_and_resume import command as command_of_a_training

from toy import write_pairs

pytestmark = pytest.mark.system

SHARDED = {
    "training.max_updates": 30,
    "training.validate_every": 10,
    "training.checkpoint_every": 4,
    "training.shards": 4,
    "training.recurrent_dropout": 0.1,
    "training.optimizer": "adam",
    "training.learning_rate": 0.003,
    "training.decay": "none",
}

# A short patience, so that a test need not wait for a minute.
IMPATIENT = """
from datetime import timedelta
from rnnsearch.training import processes
processes.PATIENCE = timedelta(seconds={seconds})
from rnnsearch.cli import main
main()
"""
# Process 1 begins with other weights.
DIFFERENT = """
import os, torch
from rnnsearch.training import session
new = session.new_system
def changed(*arguments):
    system = new(*arguments)
    if os.environ["RANK"] == "1":
        with torch.no_grad():
            system.model.readout.W_o[0, 0] += 1
    return system
session.new_system = changed
from rnnsearch.cli import main
main()
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("texts")
    train, valid = write_pairs(folder, "train", 100, 1), write_pairs(folder, "valid", 10, 2)
    return [
        *("--source", str(train[0]), "--target", str(train[1])),
        *("--valid-source", str(valid[0]), "--valid-target", str(valid[1])),
    ]


def command(texts: list[str], output: Path, **settings: object) -> list[str]:
    return command_of_a_training(texts, output, **{**SHARDED, **settings})


def together(count: int, arguments: Sequence[str], program: str = COMMAND[2]) -> list[subprocess.Popen[Any]]:
    """Start `count` processes as `torchrun` does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    described = {**ENVIRONMENT, "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environments = [{**described, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]
    return [start(*arguments, program=[*COMMAND[:2], program], environment=each) for each in environments]


def end(processes: Sequence[subprocess.Popen[Any]]) -> list[tuple[int, str]]:
    """The exit status of each process, and what it wrote to standard error."""
    errors = [process.communicate(timeout=300)[1] for process in processes]
    return [(process.returncode, error) for process, error in zip(processes, errors, strict=True)]


MORE = {
    "accumulated": {
        "training.shards": 5,
        "training.accumulate": 2,
        "training.optimizer": "adadelta",
        "training.learning_rate": 1.0,
    },
    "subwords": {
        "data.subwords": "bpe",
        "data.subword_pieces": 60,
        "training.subword_sampling": 0.1,
        "training.consistency": 1.0,
        "model.tied_embedding": True,
        "model.maxout_size": 16,
    },
}


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        pytest.param({}, (2, 3), id="modern", marks=pytest.mark.slow),
        pytest.param(MORE["accumulated"], (4,), id="accumulated", marks=pytest.mark.slow),
        pytest.param(MORE["subwords"], (3,), id="subwords", marks=pytest.mark.slow),
        pytest.param(MORE["accumulated"], (2, 3), id="accumulated-fewer", marks=pytest.mark.nightly),
        pytest.param(MORE["subwords"], (2, 4), id="subwords-others", marks=pytest.mark.nightly),
    ],
)
def test_any_number_of_processes_ends_at_the_same_bits(
    texts: list[str], tmp_path: Path, settings: dict[str, Any], counts: tuple[int, ...]
) -> None:
    settings = {**settings, "training.max_updates": 12}
    rnnsearch(*command(texts, tmp_path / "1", **settings))
    for count in counts:
        results = end(together(count, command(texts, tmp_path / str(count), **settings)))
        assert [status for status, _ in results] == [0] * count, results
        assert "Traceback" not in "".join(error for _, error in results)
        same(tmp_path / str(count), tmp_path / "1")


@pytest.mark.slow
def test_the_shards_make_the_gradient_of_the_whole(texts: list[str], tmp_path: Path) -> None:
    """Without dropout, one shard or four give nearly the same weights."""
    still = {"training.dropout": 0.0, "training.recurrent_dropout": 0.0, "training.max_updates": 5}
    still |= {"training.optimizer": "adadelta", "training.learning_rate": 1.0}
    for count in (1, 4):
        rnnsearch(*command(texts, tmp_path / str(count), **still, **{"training.shards": count}))
    one, four = (load_file(tmp_path / name / WEIGHTS) for name in "14")
    for name, weights in one.items():
        assert abs(weights - four[name]).max() < 1e-4, name


@pytest.mark.nightly
def test_the_fast_reduction_trains_as_well(texts: list[str], tmp_path: Path) -> None:
    still = {"training.dropout": 0.0, "training.recurrent_dropout": 0.0, "training.max_updates": 5, "training.accumulate": 2}
    still |= {"training.optimizer": "adadelta", "training.learning_rate": 1.0, "training.batch_size": 33}
    rnnsearch(*command(texts, tmp_path / "exact", **still))
    # 100 pairs are three minibatches of 33 and one of a single pair, where the other process has nothing to do.
    fast_settings = {**still, "training.reduction": "fast", "training.shards": 1}
    results = end(together(2, command(texts, tmp_path / "fast", **fast_settings)))
    assert [status for status, _ in results] == [0, 0], results
    exact, fast = (load_file(tmp_path / name / WEIGHTS) for name in ("exact", "fast"))
    for name, weights in exact.items():
        assert abs(weights - fast[name]).max() < 1e-4, name


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_a_run_to_go_on_with_fewer(texts: list[str], tmp_path: Path) -> None:
    rnnsearch(*command(texts, tmp_path / "1"))
    processes = together(3, command(texts, tmp_path / "3"))
    wait_for(processes[0], tmp_path / "3" / CHECKPOINT)
    time.sleep(0.3)
    processes[1].kill()
    (first, error), (killed, _), (third, _) = end(processes)
    assert (first, killed, third) == (2, -signal.SIGKILL, 2)
    assert "contact with the other training processes is lost" in error
    assert error.count("rnnsearch: ") == 1
    results = end(together(2, [*command(texts, tmp_path / "3"), "--resume"]))
    assert [status for status, _ in results] == [0, 0], results
    same(tmp_path / "3", tmp_path / "1")


@pytest.mark.slow
def test_a_process_that_hangs_is_named(texts: list[str], tmp_path: Path) -> None:
    processes = together(
        3, command(texts, tmp_path / "run", **{"training.max_updates": 10_000}), IMPATIENT.format(seconds=3)
    )
    wait_for(processes[0], tmp_path / "run" / CHECKPOINT)
    processes[2].send_signal(signal.SIGSTOP)
    try:
        error = processes[0].communicate(timeout=60)[1]
    finally:
        processes[2].kill()
    assert processes[0].returncode == 2
    assert "rnnsearch: training process 2 has not answered for 3 seconds; --resume goes on" in error
    end(processes[1:])


@pytest.mark.parametrize("rank", [0, 1])
def test_a_launcher_that_is_gone_before_all_have_met(texts: list[str], tmp_path: Path, rank: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(probe.getsockname()[1])}
    described = {**ENVIRONMENT, "WORLD_SIZE": "2", **address, "RANK": str(rank), "TORCHELASTIC_USE_AGENT_STORE": "True"}
    program = [*COMMAND[:2], IMPATIENT.format(seconds=1)]  # there is nobody to answer
    process = start(*command(texts, tmp_path / "run"), program=program, environment=described)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert "contact with the other training processes is lost" in error
    assert "Traceback" not in error


@pytest.mark.slow
def test_a_stop_that_one_process_is_asked_for_stops_all(texts: list[str], tmp_path: Path) -> None:
    rnnsearch(*command(texts, tmp_path / "1"))
    processes = together(2, command(texts, tmp_path / "2"))
    wait_for(processes[0], tmp_path / "2" / CHECKPOINT)
    processes[1].terminate()
    results = end(processes)
    assert [status for status, _ in results] == [130, 130], results
    assert "stopped at update" in results[0][1]
    assert results[1][1] == "", "only the first process speaks"
    rnnsearch(*command(texts, tmp_path / "2"), "--resume")
    same(tmp_path / "2", tmp_path / "1")


def test_differing_weights_are_found(texts: list[str], tmp_path: Path) -> None:
    (status, error), (other, _) = end(together(2, command(texts, tmp_path / "run"), DIFFERENT))
    assert (status, other) == (2, 2)
    assert "the weights after update 0 of training process 1 differ from those of process 0" in error


@pytest.mark.slow
def test_an_error_of_the_first_process_ends_the_others_without_a_word(texts: list[str], tmp_path: Path) -> None:
    rnnsearch(*command(texts, tmp_path / "run", **{"training.max_updates": 2}))
    (status, error), (other, silent) = end(together(2, command(texts, tmp_path / "run")))
    assert (status, other, silent) == (2, 2, "")
    assert "a training run is there already" in error


def test_too_few_shards_are_an_error_before_anything_starts(texts: list[str], tmp_path: Path) -> None:
    process = start(*command(texts, tmp_path / "run", **{"training.shards": 1}), "--processes", "2")
    ((status, error),) = end([process])
    assert status == 2
    assert error.startswith("rnnsearch: training.shards = 1: there is not one shard for each of 2 processes; give --set ")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_the_command_starts_its_own_processes_and_outlives_them(texts: list[str], tmp_path: Path) -> None:
    """`--processes 3`, of which one is killed; the run goes on by itself, to the same bits."""
    rnnsearch(*command(texts, tmp_path / "1", **{"training.max_updates": 60}))
    arguments = [*command(texts, tmp_path / "3", **{"training.max_updates": 60}), "--processes", "3"]
    process = start(*arguments, cold=True)
    wait_for(process, tmp_path / "3" / CHECKPOINT)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGKILL)
    ((status, error),) = end([process])
    assert status == 0, error
    assert "1 of 3 training processes ended by SIGKILL; going on from the last checkpoint with 2" in error
    assert "Traceback" not in error
    same(tmp_path / "3", tmp_path / "1")
