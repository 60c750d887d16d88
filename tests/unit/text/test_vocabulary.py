"""The shortlist: its order, its two symbols, and its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.text import END, UNK, Vocabulary

words = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)


def test_the_most_frequent_words_follow_the_symbols_and_ties_are_in_order() -> None:
    vocabulary = Vocabulary.from_counts({"b": 2, "rare": 1, "a": 2, "c": 5}, size=3)
    assert vocabulary.words == ["</s>", "[UNK]", "c", "a", "b"]
    assert len(vocabulary) == 5
    assert "c" in vocabulary
    assert "rare" not in vocabulary


def test_minimum_count_leaves_the_shortlist_smaller() -> None:
    assert Vocabulary.from_counts({"a": 2, "b": 1}, size=10, minimum_count=2).words[2:] == ["a"]


def test_encode_gives_unknown_words_one_and_no_end() -> None:
    vocabulary = Vocabulary(["la", "maison"])
    assert vocabulary.encode(["la", "grande", "maison"]) == [2, UNK, 3]
    assert vocabulary.decode([2, UNK, 3, END]) == ["la", "[UNK]", "maison", "</s>"]


def test_symbols_in_the_text_are_unknown_words() -> None:
    vocabulary = Vocabulary.from_counts({"</s>": 9, "[UNK]": 8, "a": 1}, size=2)
    assert vocabulary.words == ["</s>", "[UNK]", "a"]
    assert vocabulary.encode(["</s>", "[UNK]"]) == [UNK, UNK]
    assert "</s>" not in vocabulary


@given(st.lists(words, unique=True))
def test_save_and_load_give_back_any_words(tmp_path_factory: pytest.TempPathFactory, some: list[str]) -> None:
    some = [word for word in some if word not in ("</s>", "[UNK]")]
    path = tmp_path_factory.mktemp("vocabulary") / "words"
    Vocabulary(some).save(path)
    assert Vocabulary.load(path).words == ["</s>", "[UNK]", *some]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "words:1: '' where '</s>' must stand"),
        (b"</s>\n", "words:2: '' where '[UNK]' must stand"),
        (b"the\nof\n", "words:1: 'the' where '</s>' must stand"),
        (b"</s>\n[UNK]\na\nb\na\n", "words:5: 'a' stands on line 3 already"),
        (b"</s>\n[UNK]\na\n</s>\n", "words:4: '</s>' stands on line 1 already"),
        (b"</s>\n[UNK]\n\nb\n", "words:3: an empty line"),
        (b"</s>\n[UNK]\ncaf\xe9\n", "words:3: not valid UTF-8"),
    ],
)
def test_a_damaged_file_is_told_by_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "words").write_bytes(content)
    with pytest.raises(RnnsearchError, match=re.escape(message)):
        Vocabulary.load(tmp_path / "words")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="no such vocabulary file"):
        Vocabulary.load(tmp_path / "none")
    with pytest.raises(RnnsearchError, match="not a file but a folder"):
        Vocabulary.load(tmp_path)


@pytest.mark.parametrize("some", [["a", "a"], ["</s>"], ["a\nb"]])
def test_words_that_a_file_could_not_hold_are_refused(some: list[str]) -> None:
    with pytest.raises(ValueError, match="distinct"):
        Vocabulary(some)
