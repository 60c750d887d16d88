"""What the cleaner drops, and what it says about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import pytest

from rnnsearch.config import DataConfig
from rnnsearch.data.clean import Cleaner


@pytest.mark.parametrize(
    ("source", "target", "dropped_as"),
    [
        ("a b", "c d", None),
        ("", "c", "empty"),
        ("a", "", "empty"),
        ("", "", "empty"),
        ("a a a a a", "b b b b b", None),
        ("a a a a a a", "b", "too_long"),
        ("a", "b b b b b b", "too_long"),
        ("a", "b b b b", None),
        ("a", "b b b b b", "ratio"),
        ("a a a a a", "b", "ratio"),
    ],
)
def test_each_rule_and_its_edge(source: str, target: str, dropped_as: str | None) -> None:
    cleaner = Cleaner(DataConfig(max_length=5, max_length_ratio=4))
    assert cleaner.keep(source.split(), target.split()) is (dropped_as is None)
    counts = {"read": 1, "empty": 0, "too_long": 0, "ratio": 0, "duplicate": 0, "kept": 0}
    counts[dropped_as or "kept"] = 1
    assert asdict(cleaner.report) == counts


@pytest.mark.parametrize(("letters", "subwords", "kept"), [(60, "bpe", True), (61, "bpe", False), (61, "none", True)])
def test_an_endless_word_is_too_long_where_words_are_cut(letters: int, subwords: Literal["bpe", "none"], kept: bool) -> None:
    for pair in (["ab" * 30 + "c" * (letters - 60)], ["x", "y"]), (["x", "y"], ["a" * 30, "b" * (letters - 30)]):
        cleaner = Cleaner(DataConfig(max_length=3, subwords=subwords))
        assert cleaner.keep(*pair) is kept
        assert cleaner.report.too_long == (not kept)


def test_only_the_same_pair_is_a_duplicate() -> None:
    cleaner = Cleaner(DataConfig())
    pairs = [("a b", "c"), ("a b", "c"), ("a b", "d"), ("a", "b c"), ("a b", "c")]
    kept = [cleaner.keep(source.split(), target.split()) for source, target in pairs]
    assert kept == [True, False, True, True, False]
    assert cleaner.report.duplicate == 2


def test_duplicates_stay_where_they_are_wanted() -> None:
    cleaner = Cleaner(DataConfig(remove_duplicates=False))
    assert [cleaner.keep(["a"], ["b"]) for _ in range(2)] == [True, True]


def test_the_report_has_every_count() -> None:
    cleaner = Cleaner(DataConfig())
    cleaner.keep(["a"], ["b"])
    cleaner.keep([], ["b"])
    assert [line.split()[0] for line in cleaner.report.lines()] == ["2", "1", "0", "0", "0", "1"]
