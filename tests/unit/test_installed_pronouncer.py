"""The model that is installed with the package to pronounce English: it is whole, says what it is, and pronounces."""

from __future__ import annotations

import importlib.resources
import re
from pathlib import Path

import pytest

from command_line import Run
from rnnsearch.model_catalog import PRONOUNCER, default_model, summarize

ROOT = Path(__file__).parents[2]
PHONES = {"cat": "k æ t", "ship": "ʃ ɪ p", "house": "h a ʊ s", "window": "w ɪ n d o ʊ"}


def test_it_pronounces_english(rnnsearch: Run) -> None:
    done = rnnsearch("pronounce", *PHONES)
    assert done.err == "rnnsearch: pronouncing English with the installed model; --model names another\n"
    assert dict(line.split("\t") for line in done.out.splitlines()) == PHONES


@pytest.mark.parametrize(
    "text", ["Café — naïve!", "don't", "zyxgwvqjkh", "A B C", 30 * "ab", pytest.param(300 * "ab", marks=pytest.mark.slow)]
)
def test_odd_words_have_phones(rnnsearch: Run, text: str) -> None:
    done = rnnsearch("pronounce", "--model", PRONOUNCER, text)
    assert (done.status, done.err) == (0, "")
    assert all(line.split("\t")[1] for line in done.out.splitlines())


def test_it_is_small_listed_and_part_of_the_package(rnnsearch: Run) -> None:
    summary = summarize(default_model(PRONOUNCER))
    assert (summary.precision, summary.source_language, summary.target_language) == ("int8", "en", "ipa")
    assert summary.megabytes < 3
    assert (importlib.resources.files("rnnsearch") / "box" / PRONOUNCER / "model.safetensors").is_file()
    listed = rnnsearch("models").out
    assert "en → ipa" in listed
    assert summary.dev_score in listed
    assert summary.dev_score.startswith("WER ")


def test_it_names_its_words_and_nothing_of_the_machine_that_trained_it() -> None:
    folder = default_model(PRONOUNCER)
    for notice in (ROOT / "NOTICE", folder / "README.md"):
        text = notice.read_text(encoding="utf-8")
        assert all(name in text for name in ("SIGMORPHON 2021", "Ashby", "WikiPron", "Wiktionary", "CC BY-SA 3.0"))
    for path in folder.iterdir():
        assert not re.search(rb"/(work|home|tmp|root)/", path.read_bytes()), path
