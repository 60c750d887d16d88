"""The significance of differences between aligners, and the reliability of their probabilities."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.alignment import aligner_scores as scores
from benchmarks.lib import cost as cost_script
from rnnsearch.alignment import LineLinks
from rnnsearch.data.word_alignments import GoldLinks

GOLD = GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (0, 1)}))
RIGHT, WRONG = frozenset({(0, 0)}), frozenset({(1, 1)})


def line(source: list[int], target: list[int], probability: list[float]) -> LineLinks:
    none = np.zeros(len(source), np.float32)
    return LineLinks(
        np.array(source), np.array(target), none, none, np.empty((len(source), 0)), np.array(probability), (0.0, 0.0)
    )


def test_a_difference_in_most_sentences_is_significant_and_one_that_balances_is_not() -> None:
    gold = [GOLD] * 40
    assert scores.p_value([RIGHT] * 40, [RIGHT] * 20 + [WRONG] * 20, gold, range(40)) < 0.01
    assert scores.p_value([RIGHT] * 40, [RIGHT] * 40, gold, range(40)) == 1
    mixed, other = [RIGHT, WRONG] * 20, [WRONG, RIGHT] * 19 + [RIGHT, RIGHT]
    assert scores.p_value(mixed, other, gold, range(40)) > 0.5
    assert scores.p_value([RIGHT] * 40, [RIGHT] * 20 + [WRONG] * 20, gold, range(20)) == 1, "the other half is not looked at"


def test_reliability_compares_the_probability_with_the_share_of_sure_links() -> None:
    lines = [line([0, 0, 1], [0, 1, 1], [0.95, 0.9, 0.25])] * 3 + [line([1], [1], [0.95])]
    found = scores.reliability([scores.cells_of(one) for one in lines], [GOLD] * 4)
    drawn, cells = found["drawn links"], found["all cells"]
    assert [(one["cells"], one["linked"]) for one in drawn["bins"]] == [(4, 0.75)], "a possible link is left out"
    assert drawn["expected_calibration_error"] == pytest.approx(0.2)
    assert [(one["from"], one["cells"]) for one in cells["bins"]] == [(0.2, 3), (0.9, 4)]
    assert cells["expected_calibration_error"] == pytest.approx((3 * 0.25 + 4 * 0.2) / 7)


def cost_of(program: str, *options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, cost_script.__file__, *map(str, options), "--", sys.executable, "-c", program]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False)


def test_the_cost_of_a_command_is_its_own_and_its_childrens() -> None:
    hungry = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'b = bytearray(80 << 20); sum(range(10**6))'])"
    told = json.loads(cost_of(hungry).stdout)
    assert 80 < told["megabytes"] < 160
    assert told["processor"] > 0
    assert "temporary_megabytes" not in told
    assert cost_of("raise SystemExit(3)").returncode == 3


def test_temporary_files_cost_what_they_are_at_their_greatest(tmp_path: Path) -> None:
    folders = [tmp_path / "kept", tmp_path / "made later"]
    folders[0].mkdir()
    (folders[0] / "old").write_bytes(bytes(2 << 20))
    program = (
        f"import os, pathlib, time; folder = pathlib.Path({str(folders[1])!r}); folder.mkdir(); file = folder / 'new'; "
        "file.write_bytes(bytes(range(256)) * (12 << 10)); time.sleep(0.6); file.unlink()"
    )
    told = json.loads(cost_of(program, "--temporary", *folders).stdout)
    assert told["temporary_megabytes"] == 5
