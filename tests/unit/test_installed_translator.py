"""The translators that are installed with the package: they are whole, say what they are, and translate."""

from __future__ import annotations

import importlib.resources
import json
import re
from pathlib import Path

import pytest

import rnnsearch
from command_line import Run
from rnnsearch import Translator
from rnnsearch.model_catalog import TRANSLATORS, default_model, summarize
from served import Served

ROOT = Path(__file__).parents[2]
FRENCH = {
    "I love you.": "Je t'aime.",
    "Thank you very much.": "Merci beaucoup.",
    "Where is the station?": "Où est la gare ?",
}


ENGLISH = {
    "Je t'aime.": "I love you.",
    "Merci beaucoup.": "Thank you very much.",
    "Où est la gare ?": "Where's the station?",
}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return rnnsearch.load()


@pytest.fixture(scope="module")
def back() -> Translator:
    return rnnsearch.load("fr-en")


def test_it_knows_french(translator: Translator) -> None:
    assert {line: translator.translate(line).text for line in FRENCH} == FRENCH


def test_the_readme_shows_its_translation(translator: Translator) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"echo '(.+)' \| rnnsearch translate\n```\n\n```text\n(.+)\n```", readme)
    assert shown
    assert translator.translate(shown[1]).text == shown[2]


def test_the_other_knows_english(back: Translator) -> None:
    assert {line: back.translate(line).text for line in ENGLISH} == ENGLISH
    translation = back.translate("J'ai une voiture rouge.")
    assert translation.text == "I have a red car."
    linked = {(translation.source_tokens[source], translation.tokens[target]) for source, target in translation.links or ()}
    assert {("voiture", "car"), ("rouge", "red")} <= linked


def test_it_links_words(translator: Translator) -> None:
    translation = translator.translate("I have a red car.")
    assert translation.text == "J'ai une voiture rouge."
    assert translation.link_probabilities is not None  # it has an alignment layer
    linked = {(translation.source_tokens[source], translation.tokens[target]) for source, target in translation.links or ()}
    assert linked == {("I", "J'"), ("have", "ai"), ("a", "une"), ("red", "rouge"), ("car", "voiture"), (".", ".")}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "?!…",
        "Ω≈ç√∫˜µ",
        "日本語",
        "a" * 60,
        pytest.param("a" * 500, marks=pytest.mark.slow),
        "John Smith paid $1,234.56 on 31/12/2013.",
    ],
)
def test_odd_lines_get_an_answer(translator: Translator, back: Translator, line: str) -> None:
    for one in (translator, back):
        assert isinstance(one.translate(line).text, str)


def test_int8_products_give_nearly_the_same(translator: Translator) -> None:
    lines = [*FRENCH, "The committee will vote on the report tomorrow.", "My brother does not like coffee."]
    exact, rounded = translator.translate(lines), translator.translate(lines, precision="int8")
    assert [one.text for one in exact[: len(FRENCH)]] == [one.text for one in rounded[: len(FRENCH)]]


def test_the_command_needs_nothing_else(rnnsearch: Run, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("Thank you very much.\n")
    (tmp_path / "text.fr").write_text("Merci beaucoup.\n")
    assert rnnsearch("translate", tmp_path / "text.en").out == "Merci beaucoup.\n"
    assert rnnsearch("translate", tmp_path / "text.fr").out == "Thank you very much.\n"
    assert all(name in rnnsearch("models").out for name in TRANSLATORS)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_it_is_small_and_part_of_the_package(name: str) -> None:
    summary = summarize(default_model(name))
    assert (summary.precision, summary.source_language, summary.target_language) == ("int8", *name.split("-"))
    assert summary.megabytes < 25 / len(TRANSLATORS)
    assert (importlib.resources.files("rnnsearch") / "box" / name / "model.safetensors").is_file()


@pytest.mark.parametrize("name", TRANSLATORS)
def test_it_names_its_texts_and_nothing_of_the_machine_that_trained_it(name: str) -> None:
    folder = default_model(name)
    files = {path.name for path in folder.iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "alignment-layer.safetensors", "training.json"} <= files
    for notice in (ROOT / "NOTICE", folder / "README.md"):
        assert all(text in notice.read_text(encoding="utf-8") for text in ("Europarl", "Koehn", "Tatoeba", "CC-BY 2.0 FR"))
    record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    sources = {file["name"] for file in record["data"]["source_files"]}
    assert sources in ({f"last.{name[:2]}"}, {f"last.{name[:2]}", f"plain.{name[:2]}"})
    for path in folder.iterdir():
        assert not re.search(rb"/(work|home|tmp|root)/", path.read_bytes()), path


@pytest.mark.slow
def test_both_are_served_where_no_model_is_named(tmp_path: Path) -> None:
    server = Served(None, tmp_path / "log")
    try:
        assert server.translate("Thank you very much.") == "Merci beaucoup."
        assert server.translate("Merci beaucoup.", source="fr", target="en") == "Thank you very much."
    finally:
        server.process.terminate()
        server.process.wait(60)
