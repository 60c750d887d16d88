"""The same training, whatever runs it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch
from rich.console import Console

from rnnsearch.errors import RnnsearchError
from rnnsearch.ops import CpuRecurrences, choose_recurrences
from rnnsearch.training import session
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


def test_fused_and_reference_have_the_same_losses(tmp_path: Path) -> None:
    """Rounding differs, and training makes much of a small difference; two hundred updates make little."""
    fused, reference = (losses(tmp_path / name, engine=name) for name in ("fused", "reference"))
    assert len(fused) == UPDATES
    assert fused[:20] == pytest.approx(reference[:20], rel=1e-5)
    assert fused == pytest.approx(reference, rel=5e-3)
    assert fused[-1] < 0.7 * fused[0], "nothing was learned"


def test_bf16_learns_as_fp32_does(tmp_path: Path) -> None:
    fp32, bf16 = (losses(tmp_path / name, precision=name) for name in ("fp32", "bf16"))
    assert fp32 != bf16, "nothing was rounded"
    assert bf16 == pytest.approx(fp32, rel=0.1)


@pytest.mark.parametrize(
    ("precision", "slower", "said"), [("bf16", True, True), ("bf16", False, False), ("fp32", True, False)]
)
def test_bf16_that_does_not_pay_is_told(
    precision: str, slower: bool, said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "bf16_is_slower", lambda: slower)
    monkeypatch.setattr(session, "default_device", lambda: torch.device("cpu"))
    source, target = write_pairs(tmp_path, "train", 20, seed=1)
    output = io.StringIO()
    session.train(
        tmp_path / "model",
        toy_config(training={"max_updates": 1, "precision": precision}),
        sources=[source],
        targets=[target],
        valid_source=source,
        valid_target=target,
        console=Console(file=output, width=200),
    )
    assert ("training.precision=fp32 is faster here" in output.getvalue()) is said


def test_auto_is_fused_on_a_cpu() -> None:
    cpu = torch.device("cpu")
    assert isinstance(choose_recurrences("auto", cpu), CpuRecurrences)
    assert choose_recurrences("reference", cpu) is None
    with pytest.raises(RnnsearchError, match="engine = cuda: this is a cpu; use auto"):
        choose_recurrences("cuda", cpu)
