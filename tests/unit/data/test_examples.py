"""Tables of sentences and translations."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch.data.examples import Example, read_examples
from rnnsearch.errors import RnnsearchError


def table(folder: Path, text: str) -> Path:
    path = folder / "examples.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_named_by_the_first_line(tmp_path: Path) -> None:
    path = table(tmp_path, 'panel\tsource\tRNNsearch-50\na\tThe "cat" sleeps.\tLe « chat » dort.\nb\tIt rains.\t\n')
    assert read_examples(path) == [
        Example('The "cat" sleeps.', {"panel": "a", "RNNsearch-50": "Le « chat » dort."}),
        Example("It rains.", {"panel": "b"}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "examples.tsv:1: no column is called 'source'"),
        ("English\tFrench\nA cat.\tUn chat.\n", "examples.tsv:1: no column is called 'source'"),
        ("source\tA\tA\nx\ty\tz\n", "examples.tsv:1: two columns have the same name"),
        ("source\tA\nA cat.\n", "examples.tsv:2: 1 fields, but the first line names 2 columns"),
        ("source\tA\n", "no sentences below the names"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RnnsearchError, match=message) as refused:
        read_examples(table(tmp_path, text))
    assert "\n" not in str(refused.value)
