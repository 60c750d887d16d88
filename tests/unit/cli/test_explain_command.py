"""`rnnsearch explain`: a page beside the translation, and one line about what it cannot show."""

from __future__ import annotations

from pathlib import Path

from command_line import Folders, Run

LINE = "the big dog sees a red cat ."


def test_a_page_and_the_translation(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model, page = model_folder("mlp"), tmp_path / "steps.html"
    (tmp_path / "line.en").write_text(LINE + "\n", encoding="utf-8")
    done = rnnsearch("explain", LINE, "--model", model, "--page", page)
    assert (done.status, done.err) == (0, "")
    assert done.out == rnnsearch("translate", tmp_path / "line.en", "--model", model).out
    assert LINE in page.read_text(encoding="utf-8")


def test_what_it_refuses_leaves_no_page(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    page = tmp_path / "steps.html"
    for arguments, message in (
        (["dog " * 41, "--model", model_folder("mlp")], "has 41 words or subwords; give at most 40"),
        ([" ", "--model", model_folder("mlp")], "no words"),
        ([LINE, "--model", model_folder("mlp"), "--set", "training.seed=2"], "only search.* can still be set"),
        ([LINE, "--model", tmp_path / "nothing"], "no model here"),
    ):
        done = rnnsearch("explain", *arguments, "--page", page)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert message in done.err
        assert not page.exists()


def test_a_page_that_cannot_be_written(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = rnnsearch("explain", LINE, "--model", model_folder("mlp"), "--page", tmp_path / "file" / "steps.html")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "file" in done.err
