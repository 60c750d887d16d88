"""The demonstration goes on where it was stopped, however early."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from rnnsearch.config import Config, from_preset
from rnnsearch.experiments import demo
from rnnsearch.training.trainer import CHECKPOINT


def test_a_demo_that_was_stopped_before_its_first_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resumed: list[bool] = []

    def train(folder: Path, config: Config, *, resume: bool, **_: object) -> None:
        resumed.append(resume)
        (folder / CHECKPOINT).parent.mkdir(parents=True, exist_ok=True)
        (folder / CHECKPOINT).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "train", train)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            demo.run_demo(tmp_path, from_preset("demo"), 20, Console(quiet=True))
    assert resumed == [False, True]
