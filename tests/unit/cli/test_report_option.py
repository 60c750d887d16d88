"""`rnnsearch evaluate --report`: what it compares, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Run, refused
from rnnsearch import model_catalog
from rnnsearch.memory import Memory
from toy import toy_pairs


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A test set, with a segment with tags and one of hostile markup."""
    pairs = [*toy_pairs(12, seed=9), ("the <g1>dog</g1> sees a cat .", "le <g1>chien</g1> voit un chat .")]
    pairs.append(("<script>alert(1)</script>", "<script>alert(2)</script>"))
    path = tmp_path / "test.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def test_it_compares_with_the_memory_and_the_installed_model(
    rnnsearch: Run, model_folder: Callable[[str], Path], text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_catalog, "default_model", lambda name: model_folder("none"))
    terms = tmp_path / "terms.tsv"
    terms.write_text("dog\tchien\n", encoding="utf-8")
    page, results = tmp_path / "report.html", tmp_path / "report.json"
    Memory(tmp_path / "memory").add(("en", "fr"), toy_pairs(40, seed=9))  # 12 of them are those of the test set
    how = ["--report", page, "--memory", tmp_path / "memory", "--terms", terms, "--json", results]
    found = rnnsearch("evaluate", "--model", model_folder("mlp"), text, *how)
    assert found.status == 0, found.err
    values = json.loads(results.read_text(encoding="utf-8"))["report"]
    assert values["systems"] == ["model", "installed model", "nearest segment"]
    assert values["all"]["segments"] == 14
    assert set(values["kinds"]) == {"length", "tags", "terms", "nearest segment of the memory"}
    assert values["all"]["quality"]["nearest segment"]["unedited"] == 0
    assert values["tags"]["of"] >= 2
    html = page.read_text(encoding="utf-8")
    assert "Is it good enough?" in html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "http" not in html.replace("http-equiv", "")


def test_what_is_refused(rnnsearch: Run, model_folder: Callable[[str], Path], text: Path, tmp_path: Path) -> None:
    model = model_folder("mlp")
    refused(rnnsearch("evaluate", "--model", model, text, "--memory", text), "only the report compares with it")
    report = ["--report", tmp_path / "report.html"]
    refused(rnnsearch("evaluate", "--model", model, text, *report, "--memory", text), "but those of the test set")
    refused(rnnsearch("evaluate", "--model", model, text, "--report", text), str(text))
    assert not (tmp_path / "report.html").exists()
