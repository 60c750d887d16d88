"""`rnnsearch evaluate --behaviour`: what it refuses, prints and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Run, refused
from rnnsearch.evaluation.behaviour import suite

TWO_LINES = """
[lists]
name = ["Anna"]

[[capabilities.names]]
slots = ["name"]
lines = ["<name> is here."]

[[capabilities.emoji]]
keeps = ["😊"]
lines = ["I am tired."]
"""


def test_the_command(rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "en-fr.toml").write_text(TWO_LINES, encoding="utf-8")
    monkeypatch.setattr(suite, "FOLDER", tmp_path)
    page, results = tmp_path / "page.html", tmp_path / "results.json"
    found = rnnsearch("evaluate", "--model", "en-fr", "--behaviour", "--json", results, "--page", page)
    assert found.status == 0, found.err
    assert "names" in found.out
    values = json.loads(results.read_text(encoding="utf-8"))
    assert (values["passed"], values["of"], values["pair"]) == (1, 2, "en-fr")
    (failed,) = values["failed"]
    assert (failed["capability"], failed["line"]) == ("emoji", "I am tired.")
    assert failed["translation"] in page.read_text(encoding="utf-8")
    refused(rnnsearch("evaluate", "--model", "fr-en", "--behaviour"), "no behaviour suite from fr to en")


def test_what_is_refused(rnnsearch: Run, tmp_path: Path) -> None:
    other = rnnsearch("evaluate", "--model", "en-fr", "--behaviour", "--source", tmp_path / "text.en")
    refused(other, "--behaviour has its own lines")
    refused(rnnsearch("evaluate", "--model", "en-fr", "--page", tmp_path / "page.html"), "only --behaviour writes a page")
