"""`--page` of `translate` and `align`: the same output as without, and a page beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Folders, Run, refused
from rnnsearch.report import page as report_page
from toy import ALIGNMENTS, write_pairs


def outputs(rnnsearch: Run, path: Path, *command: object) -> tuple[str, str, str]:
    """What a command writes, without `--page` and with it the same, its standard error, and the page."""
    plain, done = rnnsearch(*command), rnnsearch(*command, "--page", path)
    assert done.status == 0, done.err
    assert done.out == plain.out
    return done.out, done.err, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_translate(rnnsearch: Run, model_folder: Folders, tmp_path: Path, alignment: str) -> None:
    (tmp_path / "text.en").write_text("the big dog sees  a cat .\n\nthe cat has this book .\n", encoding="utf-8")
    command = ("translate", tmp_path / "text.en", "--model", model_folder(alignment))
    out, _, html = outputs(rnnsearch, tmp_path / "page.html", *command)
    lines = out.splitlines()
    assert html.count("data-weights=") == (sum(len(line.split()) for line in lines) if alignment == "mlp" else 0)
    assert "Translations of text.en" in html
    assert ("sees</span>  <span" in html) == (alignment == "mlp")  # as it was written
    _, _, html = outputs(rnnsearch, tmp_path / "page.html", *command, "--n-best", "2", "--format", "json")
    assert html.count("<dt>Translation 2</dt>") == 2


@pytest.mark.parametrize("given", [True, False])
def test_align(rnnsearch: Run, model_folder: Folders, tmp_path: Path, given: bool) -> None:
    source, target = write_pairs(tmp_path, "pairs", 5, seed=4)
    options = ["--target", target] if given else []
    command = ("align", "--model", model_folder("mlp"), "--source", source, *options)
    out, _, html = outputs(rnnsearch, tmp_path / "page.html", *command)
    assert html.count('<article class="sample aligned">') == len(out.splitlines()) == 5
    if given:
        assert html.count("data-weights=") == len(target.read_text().split())


def test_a_page_has_a_limit_and_says_so(
    rnnsearch: Run, model_folder: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_page, "MOST_SAMPLES", 3)
    monkeypatch.setattr(report_page, "_LONGEST", 10)
    (tmp_path / "text.en").write_text("the cat .\n" + "dog " * 11 + "\nthe cat .\nthe cat .\n", encoding="utf-8")
    command = ("translate", tmp_path / "text.en", "--model", model_folder("mlp"))
    out, err, html = outputs(rnnsearch, tmp_path / "page.html", *command)
    assert len(out.splitlines()) == 4
    assert f"rnnsearch: {tmp_path / 'page.html'} shows the first 3 of 4 sentences\n" in err
    assert html.count('<article class="sample') == 3
    assert html.count('<article class="sample aligned">') == 2


def test_a_page_that_cannot_be_written(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("the cat .\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    done = rnnsearch("translate", tmp_path / "text.en", "--model", model_folder("mlp"), "--page", tmp_path / "folder")
    assert done.out == "", "it is tried before the work"
    refused(done, tmp_path / "folder")
