"""Repeated pairs: the first of each is told from the others, alike in memory and on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data import repetitions
from rnnsearch.data.repetitions import Fingerprints
from rnnsearch.errors import RnnsearchError


def first(path: Path, values: list[int], chunk: int = 3) -> list[bool]:
    with Fingerprints(path) as fingerprints:
        for start in range(0, len(values), chunk):
            fingerprints.add(np.array(values[start : start + chunk], dtype=np.uint64))
    return fingerprints.first().tolist()


@pytest.mark.parametrize("in_memory", [0, 1000])
@given(values=st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=40))
def test_the_first_of_each(in_memory: int, values: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(repetitions, "IN_MEMORY", in_memory)
        patch.setattr(repetitions, "_BATCH", 7)
        found = first(Path(folder) / "x.parquet", values)
    assert found == [value not in values[:place] for place, value in enumerate(values)]


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetitions, "IN_MEMORY", 2)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert first(tmp_path / "x.parquet", [1, 1]) == [True, False]
    with pytest.raises(RnnsearchError, match=r"among 3 needs DuckDB: `pip install 'rnnsearch\[big\]'`"):
        first(tmp_path / "x.parquet", [1, 1, 2])
