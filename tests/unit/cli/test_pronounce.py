"""`rnnsearch pronounce` with a tiny model, of a toy language with the letters a, é, o, t, c, n and h."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rnnsearch as package
from command_line import Run, refused
from kept import kept
from rnnsearch.errors import RnnsearchError
from rnnsearch.translation.pronunciation import Pronouncer
from spelling import make_speller


@pytest.fixture(scope="module")
def folder() -> Path:
    return kept(make_speller) / "model"


@pytest.fixture(scope="module")
def pronouncer(folder: Path) -> Pronouncer:
    return Pronouncer(package.load(folder))


def test_each_word_has_a_line_with_its_phones(rnnsearch: Run, folder: Path) -> None:
    done = rnnsearch("pronounce", "--model", folder, "tan", "cat, “not”: tan!")
    assert (done.status, done.err) == (0, "")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows] == ["tan", "cat", "not", "tan"]
    translator = package.load(folder)
    assert [row[1] for row in rows] == [translator.translate(word).text for word, _ in rows]
    assert all(row[1] for row in rows)


def test_lines_of_a_file_and_of_standard_input(
    rnnsearch: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "tan cat\n\n ?! \nnot"
    (tmp_path / "text").write_text(text)
    from_file = rnnsearch("pronounce", "--model", folder, "--file", tmp_path / "text", "--output", tmp_path / "out")
    assert (from_file.status, from_file.out, from_file.err) == (0, "", "")
    written = (tmp_path / "out").read_text()
    assert [line.partition("\t")[0] for line in written.splitlines()] == ["tan", "cat", "", "", "not"]
    with (tmp_path / "text").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert rnnsearch("pronounce", "--model", folder).out == written


def test_n_best_have_falling_scores(rnnsearch: Run, folder: Path) -> None:
    done = rnnsearch("pronounce", "--model", folder, "--n-best", 2, "--beam", 4, "chat")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows] == ["chat", "chat"]
    assert rows[0][1] != rows[1][1]
    assert float(rows[0][2]) >= float(rows[1][2])


@pytest.mark.parametrize(
    ("word", "spelling"),
    [
        ("chat", "chat"),
        ("CHAT", "chat"),
        ("Cháté", "chaté"),  # é is a letter of this language, á is not
        ("e\u0301t", "ét"),
        ("ÉT", "ét"),
        ("ﬁtat", "tat"),
        ("c'ot", "cot"),
        ("4t", "t"),
        ("日本", ""),
    ],
)
def test_spellings_have_known_letters_only(pronouncer: Pronouncer, word: str, spelling: str) -> None:
    assert pronouncer.spelling(word) == spelling


def test_what_is_left_out_is_told_in_one_line(rnnsearch: Run, folder: Path) -> None:
    done = rnnsearch("pronounce", "--model", folder, "TAN4 日本 t'án", "日")
    assert done.status == 0
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows] == ["TAN4", "日本", "t'án", "日"]
    assert rows[0][1] == rows[2][1] != ""
    assert rows[1][1] == rows[3][1] == ""
    assert done.err == "rnnsearch: left out, since model does not know how they are read: 4 日 本\n"


def test_a_very_long_word_has_an_answer(rnnsearch: Run, folder: Path) -> None:
    done = rnnsearch("pronounce", "--model", folder, 700 * "to")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(700 * "to" + "\tt oː t oː")


def test_refusals(rnnsearch: Run, folder: Path, model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    refused(rnnsearch("pronounce", "-m", folder, "tan", "--file", tmp_path), "not both")
    refused(rnnsearch("pronounce", "-m", folder, "--file", tmp_path / "none"), "none: no such file")
    refused(rnnsearch("pronounce", "-m", tmp_path / "none", "tan"), "none")
    with pytest.raises(RnnsearchError, match="a model that reads words, not letters"):
        Pronouncer(package.load(model_folder("mlp")))
