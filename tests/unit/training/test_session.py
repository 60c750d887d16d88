"""A training keeps its folder to itself, on file systems of all kinds."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

from rnnsearch.errors import RnnsearchError
from rnnsearch.training.session import train
from toy import toy_config, write_pairs


@pytest.fixture
def asked(tmp_path: Path) -> dict[str, object]:
    source, target = write_pairs(tmp_path, "train", 30, seed=1)
    text = {"sources": [source], "targets": [target], "valid_source": source, "valid_target": target}
    config = toy_config(training={"max_updates": 2})
    return {"output": tmp_path / "model", "config": config, "console": Console(quiet=True), **text}


def locking_fails(monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.filterwarnings("ignore:flock not supported")
@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks(
    asked: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """As some on a network are: no reason not to train there, nor not to go on."""
    locking_fails(monkeypatch, error)
    train(**asked)  # type: ignore[arg-type]
    train(**asked, resume=True)  # type: ignore[arg-type]
    assert json.loads((tmp_path / "model" / "training.json").read_text())["updates"] == 2


def test_a_lock_that_cannot_be_had(asked: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locking_fails(monkeypatch, errno.EIO)
    with pytest.raises(RnnsearchError, match=r"model: cannot train there: Input/output error"):
        train(**asked)  # type: ignore[arg-type]
