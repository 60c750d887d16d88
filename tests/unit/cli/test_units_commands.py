"""Models of characters and symbols on the command line and in Python: from a table to pronunciations and their scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import rnnsearch as package
from command_line import Run, refused
from kept import kept
from rnnsearch.config import from_preset
from rnnsearch.evaluation.error_rates import error_rates
from spelling import assignments, make_speller, spelt_words, write_table

WORDS = spelt_words(40, 3)


@pytest.fixture(scope="module")
def folder() -> Path:
    return kept(make_speller) / "model"


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    return write_table(tmp_path / "test.tsv", WORDS)


def test_the_model_pronounces_words_that_it_has_not_seen(folder: Path) -> None:
    model = package.load(folder)
    found = model.translate([word for word, _ in WORDS])
    rates = error_rates([one.tokens for one in found], [phones.split() for _, phones in WORDS])
    assert rates.wer < 25
    assert "characters → symbols" in repr(model)
    first = found[0]
    assert first.source_tokens[:-1] == list(WORDS[0][0])
    assert first.text == " ".join(first.tokens)
    assert first.alignment is not None
    assert first.alignment.shape == (len(first.tokens), len(WORDS[0][0]) + 1)


def test_an_encoding_of_a_word_is_not_another_word(folder: Path) -> None:
    model = package.load(folder)
    assert model.translate("te\u0301o").text == model.translate("téo").text


def test_blank_lines_stay_blank_and_unknown_letters_are_read(folder: Path) -> None:
    model = package.load(folder)
    assert [one.text for one in model.translate(["", "  "])] == ["", ""]
    assert model.translate("tżo" + 300 * "\u0301").tokens


def test_a_record_has_the_error_rates(folder: Path) -> None:
    record = json.loads((folder / "training.json").read_text())
    assert record["dev_wer"] == min(row["valid_wer"] for row in record["validations"])
    assert "dev WER" in (folder / "README.md").read_text()


def test_evaluate_prints_error_rates_and_confusions(rnnsearch: Run, folder: Path, test_set: Path, tmp_path: Path) -> None:
    done = rnnsearch(
        "evaluate", "--model", folder, "--tsv", test_set, "--output", tmp_path / "out", "--json", tmp_path / "json"
    )
    assert done.status == 0, done.err
    assert "WER" in done.out
    assert "reference" in done.out
    found = json.loads((tmp_path / "json").read_text())
    wrong = [line != phones for line, (_, phones) in zip((tmp_path / "out").read_text().splitlines(), WORDS, strict=True)]
    assert found["errors"]["wer"] == pytest.approx(100 * sum(wrong) / len(wrong))
    assert found["no_unk"] is None


def test_compare_tests_error_rates(rnnsearch: Run, tmp_path: Path) -> None:
    one, other, reference = tmp_path / "one", tmp_path / "other", tmp_path / "reference"
    reference.write_text("".join(f"{phones}\n" for _, phones in WORDS))
    one.write_text(reference.read_text())
    other.write_text("".join(f"{phones} ʔ\n" for _, phones in WORDS))
    done = rnnsearch("compare", one, other, "--reference", reference, "--units", "symbols")
    assert done.status == 0, done.err
    assert "WER" in done.out
    assert "100.00" in done.out
    assert "0.001" in done.out


def test_align_and_score_take_tables(rnnsearch: Run, folder: Path, test_set: Path, tmp_path: Path) -> None:
    done = rnnsearch("align", "--model", folder, "--tsv", test_set, "--page", tmp_path / "page.html")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == len(WORDS)
    assert "characters → symbols" in (tmp_path / "page.html").read_text()
    done = rnnsearch("score", "--model", folder, "--tsv", test_set)
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == len(WORDS)
    refused(rnnsearch("score", "--model", folder, "--source", test_set), "FILE")


def test_a_lexicon_selects_symbols_and_replaces_unknown_ones(
    rnnsearch: Run, folder: Path, test_set: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(folder, tmp_path / "model"))
    done = rnnsearch("lexicon", "--model", model, "--source", test_set, "--target", test_set)
    assert done.status == 0, done.err
    translator = package.load(model)
    words = [word for word, _ in WORDS]
    assert translator.translate(words, vocabulary_selection=20)[0].tokens == translator.translate(words)[0].tokens
    assert translator.translate(words, replace_unk=True)[0].tokens


def test_other_units_have_their_white_space(rnnsearch: Run, tmp_path: Path) -> None:
    """A table with features, from characters to characters, of which some are spaces; the run is resumed."""
    table = tmp_path / "table.tsv"
    table.write_text("".join(f"{word} {word}\t{word[::-1]} a\tN;{len(word)}\n" for word, _ in WORDS))
    given = ["--tsv", table, "--hold-out", 5, "--output", tmp_path / "model", "--preset", "best"]
    wanted = assignments(data__target_units="characters", training__max_updates=2, training__validate_every=2)
    sets = [part for one in wanted for part in ("--set", one)]
    done = rnnsearch("train", *given, *sets)
    assert done.status == 0, done.err
    vocabulary = (tmp_path / "model" / "source.vocab").read_text().split("\n")
    assert " " in vocabulary
    assert "<N>" in vocabulary
    done = rnnsearch("train", *given, *sets, "--resume")
    assert done.status == 0, done.err
    text = tmp_path / "text"
    text.write_text("atc atc\tN;3\n")
    done = rnnsearch("translate", text, "--model", tmp_path / "model", "--format", "json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["source_tokens"] == ["<N>", "<3>", *"atc atc", "</s>"]


def test_a_text_is_no_table(rnnsearch: Run, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("one two\n")
    units = [part for one in assignments() for part in ("--set", one)]
    done = rnnsearch("train", "--tsv", text, "--hold-out", 1, "--output", tmp_path / "model", *units)
    refused(done, "text:1: no tab")
    refused(rnnsearch("prepare", "--output", tmp_path / "data"), "FILE")


def test_the_sizes_of_a_preset_follow_the_amount_of_text(rnnsearch: Run, tmp_path: Path) -> None:
    few, usual, many = (from_preset("characters", pairs=pairs) for pairs in (100, 8000, 100_000))
    assert usual == from_preset("characters")
    assert few.training.batch_size < usual.training.batch_size
    assert few.training.max_updates < usual.training.max_updates < many.training.max_updates
    assert from_preset("small", pairs=100) == from_preset("small")

    table = write_table(tmp_path / "table.tsv", spelt_words(60, 1))
    short = ["--set", "training.max_updates=2", "--set", "training.validate_every=2"]
    tiny = [f"--set=model.{size}_size=8" for size in ("embedding", "hidden", "alignment", "maxout")]
    given = ["--tsv", table, "--hold-out", 5, "--preset", "characters", *short, *tiny]
    done = rnnsearch("train", *given, "--output", tmp_path / "model")
    assert done.status == 0, done.err
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["training"]["batch_size"] == few.training.batch_size
    assert (tmp_path / "model" / "data" / "links.arrow").exists()
    done = rnnsearch("train", *given, "--output", tmp_path / "model", "--resume")
    assert done.status == 0, done.err
