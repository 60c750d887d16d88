"""The same training, whatever runs it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import torch
from rich.console import Console

from rnnsearch.errors import RnnsearchError
from rnnsearch.ops import CpuRecurrences, choose_recurrences, matmul
from rnnsearch.training import session
from rnnsearch.training.trainer import Trainer
from toy import Recorder, toy_config, toy_trainer, write_pairs

UPDATES = 200


def losses(folder: Path, **training: object) -> list[float]:
    config = toy_config(
        training={
            "max_updates": UPDATES,
            "validate_every": 10_000,
            "checkpoint_every": 10_000,
            "learning_rate": 1e-3,
            "dropout": 0.1,
            **training,
        }
    )
    recorder = Recorder()
    toy_trainer(folder, config, pairs=200).run(recorder)
    return recorder.losses


@pytest.mark.slow
def test_fused_and_reference_have_the_same_losses(tmp_path: Path) -> None:
    """Rounding differs, and training makes much of a small difference; two hundred updates make little."""
    fused, reference = (losses(tmp_path / name, engine=name) for name in ("fused", "reference"))
    assert len(fused) == UPDATES
    assert fused[:20] == pytest.approx(reference[:20], rel=1e-5)
    assert fused == pytest.approx(reference, rel=5e-3)
    assert fused[-1] < 0.7 * fused[0], "nothing was learned"


@pytest.mark.slow
def test_bf16_learns_as_fp32_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "bf16_is_slower", lambda: False)
    fp32, bf16 = (losses(tmp_path / name, precision=name) for name in ("fp32", "bf16"))
    assert fp32 != bf16, "nothing was rounded"
    assert bf16 == pytest.approx(fp32, rel=0.1)


def test_bf16_falls_back_to_fp32_where_it_is_slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same weights as with fp32, one line that says so, and the setting is kept for another machine."""
    monkeypatch.setattr(matmul, "bf16_is_slower", lambda: True)
    monkeypatch.setattr(session, "default_device", lambda: torch.device("cpu"))
    source, target = write_pairs(tmp_path, "train", 20, seed=1)
    lines = {}
    for precision in ("fp32", "bf16"):
        output = io.StringIO()
        session.train(
            tmp_path / precision,
            toy_config(training={"max_updates": 1, "precision": precision}),
            sources=[source],
            targets=[target],
            valid_source=source,
            valid_target=target,
            console=Console(file=output, width=200),
        )
        lines[precision] = [line for line in output.getvalue().splitlines() if "more slowly than float32" in line]
        assert json.loads((tmp_path / precision / "training.json").read_text())["precision"] == "fp32"
        assert json.loads((tmp_path / precision / "config.json").read_text())["training"]["precision"] == precision
    assert [len(lines["fp32"]), len(lines["bf16"])] == [0, 1]
    fp32, bf16 = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("fp32", "bf16"))
    assert fp32 == bf16


def test_a_bf16_run_goes_on_in_fp32_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trainer(updates: int) -> Trainer:
        return toy_trainer(tmp_path, toy_config(training={"max_updates": updates, "precision": "bf16"}))

    notices: dict[int, list[str]] = {}
    for updates, slower in ((2, False), (3, True), (4, True)):
        monkeypatch.setattr(matmul, "bf16_is_slower", lambda slower=slower: slower)
        run, recorder = trainer(updates), Recorder()
        if updates > 2:
            run.resume()
        assert run.run(recorder).update == updates
        notices[updates] = recorder.notices
    assert notices[2] == []
    assert len(notices[3]) == 2
    assert "in bf16 until update 2 and goes on in fp32" in notices[3][1]
    assert len(notices[4]) == 1


def test_auto_is_fused_on_a_cpu() -> None:
    cpu = torch.device("cpu")
    assert isinstance(choose_recurrences("auto", cpu), CpuRecurrences)
    assert choose_recurrences("reference", cpu) is None
    with pytest.raises(RnnsearchError, match="engine = cuda: the device is cpu; use auto"):
        choose_recurrences("cuda", cpu)
