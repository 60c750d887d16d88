"""Every test that the page of mended faults names is there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mended-faults.md"


def test_the_tests_that_it_names_are_there() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "before" not in line]
    named = [re.findall(r"\[`(\w+)`\]\((\S+)\)", row) for row in rows]
    for name, path in (test for tests in named for test in tests):
        text = (PAGE.parent / path).read_text(encoding="utf-8")
        assert f"def {name}(" in text, name
    of_faults = [tests for row, tests in zip(rows, named, strict=True) if row.count(" | ") >= 3]
    assert len(of_faults) > 50
    assert all(of_faults)
