"""Folders of data sets."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.data_sets import with_data_sets


def write(path: Path, *words: str) -> None:
    rows = [{"translation": {"en": word, "fr": word.upper()}} for word in words]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_training_text_of_a_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path / "data" / "train-00001-of-00002.parquet", "c")
    write(tmp_path / "data" / "train-00000-of-00002.parquet", "a", "b")
    write(tmp_path / "data" / "validation-00000-of-00001.parquet", "d")
    write(tmp_path / ".cache" / "train.jsonl", "e")
    (tmp_path / "README.md").write_text("train")
    files = list(with_data_sets([tmp_path]))
    assert list(read_pairs(files, files, ("en", "fr"))) == [("a", "A"), ("b", "B"), ("c", "C")]


def test_without_names_of_splits_all_but_test_sets_are_read(tmp_path: Path) -> None:
    for name in ("latest.jsonl", "opus.jsonl", "test.jsonl", "dev/x.jsonl", "validation_1.jsonl"):
        write(tmp_path / name, "a")
    assert [path.name for path in with_data_sets([tmp_path / "test.jsonl", tmp_path])] == [
        "test.jsonl",
        "latest.jsonl",
        "opus.jsonl",
    ]


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "test.jsonl", "a")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(RnnsearchError, match="a folder without training text"):
        list(with_data_sets([tmp_path]))
