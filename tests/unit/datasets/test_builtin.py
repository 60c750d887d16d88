"""The built-in corpus as the package has it: the parts that are written, and what is refused."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.data.word_alignments import read_gold
from rnnsearch.datasets import builtin
from rnnsearch.datasets.builtin import PAIRS, read_pairs, write_corpus
from rnnsearch.errors import RnnsearchError

FILE = Path(builtin.__file__).with_name("builtin.npz.xz")
ENDINGS = ("en", "fr", "gold")


def test_a_corpus_is_written_in_parts_that_share_no_english(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=400, valid=50, test=60)
    parts: dict[str, list[str]] = {}
    for part, pairs in (("train", 400), ("valid", 50), ("test", 60)):
        lines = [(tmp_path / f"{part}.{ending}").read_text("utf-8").splitlines() for ending in ENDINGS]
        assert [len(found) for found in lines] == [pairs] * 3
        parts[part] = lines[0]
    assert len(set(parts["train"]) | set(parts["valid"]) | set(parts["test"])) == 510
    lines = [(tmp_path / f"test.{ending}").read_text("utf-8").splitlines()[0] for ending in ENDINGS]
    assert lines == [
        "Jeanne prepares the adventure and a meeting.",
        "Jeanne prépare l'aventure et une réunion.",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7",
    ]
    assert read_gold(tmp_path / "test.gold")[0].sure == {(i, i) for i in range(8)}


def test_a_larger_training_part_leaves_the_held_out_parts_alone(tmp_path: Path) -> None:
    for name, train in (("small", 10), ("large", 50)):
        write_corpus(tmp_path / name, train=train, valid=10, test=10)
    for file in ("test.en", "valid.fr", "test.gold"):
        assert (tmp_path / "small" / file).read_text() == (tmp_path / "large" / file).read_text()
    for ending in ENDINGS:
        small, large = ((tmp_path / name / f"train.{ending}").read_text() for name in ("small", "large"))
        assert large.startswith(small)


def test_no_english_sentence_occurs_twice() -> None:
    lines = read_pairs(FILE, PAIRS)
    assert [len(column) for column in lines] == [PAIRS] * 3
    assert len(set(lines.english)) == PAIRS


@settings(max_examples=8, deadline=None)
@given(pairs=st.integers(0, 2000))
def test_fewer_pairs_are_the_first_ones(pairs: int) -> None:
    assert read_pairs(FILE, pairs) == tuple(column[:pairs] for column in first_pairs())


@cache
def first_pairs() -> builtin.Lines:
    return read_pairs(FILE, 2000)


def test_more_pairs_than_there_are(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"has 62,000 sentence pairs, and 62,001 are asked for: 61,001 to train"):
        write_corpus(tmp_path, train=61_001, valid=500, test=500)
    assert not list(tmp_path.iterdir())


def damaged(how: str) -> bytes:
    content = FILE.read_bytes()
    middle = len(content) // 2
    return {
        "cut short": content[:middle],
        "empty": b"",
        "changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "something else": b"no corpus at all",
        "something else, compressed": lzma.compress(b"no corpus at all"),
    }[how]


@pytest.mark.parametrize("how", ["cut short", "empty", "changed", "something else", "something else, compressed"])
def test_a_damaged_file_is_refused(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "builtin.npz.xz"
    path.write_bytes(damaged(how))
    monkeypatch.setattr(builtin, "_FILE", path)
    with pytest.raises(RnnsearchError, match=r"builtin\.npz\.xz: damaged \(.+\); install rnnsearch again") as refused:
        write_corpus(tmp_path / "corpus", train=10, valid=1, test=1)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "corpus").exists()


def test_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "_FILE", tmp_path / "builtin.npz.xz")
    with pytest.raises(RnnsearchError, match=r"builtin\.npz\.xz: cannot read it: No such file"):
        write_corpus(tmp_path)
