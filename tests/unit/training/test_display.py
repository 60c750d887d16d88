"""What is shown of a training does not stop it."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from rnnsearch.training.display import Display
from rnnsearch.training.trainer import Trainer
from toy import toy_config, toy_trainer

SETTINGS = {"max_updates": 30, "validate_every": 10, "checkpoint_every": 10}


def run(folder: Path, tensorboard: Path) -> tuple[Trainer, str]:
    trainer = toy_trainer(folder, toy_config(training=SETTINGS), pairs=40)
    out = io.StringIO()
    with Display(Console(file=out, width=200), tensorboard, trainer) as display:
        trainer.run(display)
    return trainer, out.getvalue()


def test_curves_are_written(tmp_path: Path) -> None:
    trainer, out = run(tmp_path / "run", tmp_path / "curves")
    assert trainer.progress.update == 30
    assert len(list((tmp_path / "curves").iterdir())) == 1
    assert "TensorBoard" not in out


@pytest.mark.parametrize("calls", [1, *(pytest.param(calls, marks=pytest.mark.slow) for calls in (0, 2, 5))])
def test_a_disk_without_room_for_curves(
    tmp_path: Path, calls: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In whatever thread, at the beginning or later: one line, and the training goes on."""
    from tensorboard.compat.tensorflow_stub.io.gfile import LocalFileSystem

    made, left = LocalFileSystem._write, [calls]

    def full(self: object, *arguments: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return made(self, *arguments)

    monkeypatch.setattr(LocalFileSystem, "_write", full)
    before = threading.excepthook
    trainer, out = run(tmp_path / "run", tmp_path / "curves")
    assert trainer.progress.update == 30
    assert out.count("the curves for TensorBoard cannot be written (No space left on device)") == 1
    assert "Traceback" not in capfd.readouterr().err
    assert threading.excepthook is before
