"""Small trainings in many settings end at recorded losses, on any processor.

After a change that is meant to alter results, `python benchmarks exactness/golden` records them again, and
`benchmarks/exactness/command_bytes.py` compares two versions byte for byte.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.exactness.golden import GOLDEN, SYSTEMS, losses

QUICK = ("paper", "update-first", "encdec", "lstm", "deep")
"""The systems that are compared by `make test`; the nightly tests compare all."""


@pytest.mark.parametrize(
    "system", [pytest.param(system, marks=[] if system in QUICK else [pytest.mark.nightly]) for system in SYSTEMS]
)
def test_a_training_ends_at_the_recorded_losses(system: str, tmp_path: Path) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    tolerance = 0.02 if system == "bf16" else 1e-4
    for name, values in losses(system, tmp_path).items():
        assert values == pytest.approx(golden[system][name], rel=tolerance), name


def test_the_losses_of_the_systems_differ() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    ends = {system: found["training"][-1] for system, found in golden.items() if system not in ("reference", "adam")}
    closest = min(abs(one / other - 1) for a, one in ends.items() for b, other in ends.items() if a < b)
    assert closest > 1e-4, "no system could be told from another within the tolerance"
