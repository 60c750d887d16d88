"""The model that is installed with the package: it is whole, says what it is, and translates."""

from __future__ import annotations

import importlib.resources
import json
import re
from pathlib import Path

import pytest

import rnnsearch
from command_line import Run
from rnnsearch import Translator
from rnnsearch.model_catalog import default_model, summarize

ROOT = Path(__file__).parents[2]
FRENCH = {
    "I love you.": "Je t'aime.",
    "Thank you very much.": "Merci beaucoup.",
    "Where is the station?": "Où est la gare ?",
}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return rnnsearch.load()


def test_it_knows_french(translator: Translator) -> None:
    assert {line: translator.translate(line).text for line in FRENCH} == FRENCH


def test_it_links_words(translator: Translator) -> None:
    translation = translator.translate("I have a red car.")
    assert translation.text == "J'ai une voiture rouge."
    assert translation.link_probabilities is not None  # it has an alignment layer
    linked = {(translation.source_tokens[source], translation.tokens[target]) for source, target in translation.links or ()}
    assert linked == {("I", "J'"), ("have", "ai"), ("a", "une"), ("red", "rouge"), ("car", "voiture"), (".", ".")}


@pytest.mark.parametrize("line", ["", "?!…", "Ω≈ç√∫˜µ", "日本語", "a" * 500, "John Smith paid $1,234.56 on 31/12/2013."])
def test_odd_lines_get_an_answer(translator: Translator, line: str) -> None:
    assert isinstance(translator.translate(line).text, str)


def test_int8_products_give_nearly_the_same(translator: Translator) -> None:
    lines = [*FRENCH, "The committee will vote on the report tomorrow.", "My brother does not like coffee."]
    exact, rounded = translator.translate(lines), translator.translate(lines, precision="int8")
    assert [one.text for one in exact[: len(FRENCH)]] == [one.text for one in rounded[: len(FRENCH)]]


def test_the_command_needs_nothing_else(rnnsearch: Run, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("Thank you very much.\n")
    assert rnnsearch("translate", tmp_path / "text.en").out == "Merci beaucoup.\n"
    assert "en-fr" in rnnsearch("models").out


def test_it_is_small_and_part_of_the_package() -> None:
    summary = summarize(default_model())
    assert (summary.precision, summary.source_language, summary.target_language) == ("int8", "en", "fr")
    assert summary.megabytes < 15
    packaged = importlib.resources.files("rnnsearch") / "box" / "en-fr" / "model.safetensors"
    assert packaged.is_file()


def test_it_names_its_texts_and_nothing_of_the_machine_that_trained_it() -> None:
    folder = default_model()
    files = {path.name for path in folder.iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "alignment-layer.safetensors", "training.json"} <= files
    for notice in (ROOT / "NOTICE", folder / "README.md"):
        assert all(name in notice.read_text(encoding="utf-8") for name in ("Europarl", "Koehn", "Tatoeba", "CC-BY 2.0 FR"))
    record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    assert {file["name"] for file in record["data"]["source_files"]} == {"train.en"}
    for path in folder.iterdir():
        assert not re.search(rb"/(work|home|tmp|root)/", path.read_bytes()), path
