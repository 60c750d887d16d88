"""Real text, from files to figures, through the command line. Whether it is any good is not for this test to say."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from pathlib import Path

import pytest
from running import rnnsearch

pytestmark = [pytest.mark.system, pytest.mark.slow]

SETTINGS = {
    "data.source_words": 2000,
    "data.target_words": 2000,
    "model.embedding_size": 32,
    "model.hidden_size": 32,
    "model.alignment_size": 24,
    "model.maxout_size": 24,
    "training.batch_size": 32,
    "training.max_updates": 60,
    "training.validate_every": 20,
    "training.validate_sentences": 20,
    "training.learning_rate": 0.005,
    "training.warmup_updates": 0,
}


@pytest.fixture(scope="module")
def text(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginnings of Multi30k's files; plain and compressed ones."""
    folder = tmp_path_factory.mktemp("multi30k")
    for name, lines in (("train", 2000), ("val", 40), ("test_2016_flickr", 30)):
        for language in ("en", "fr"):
            with gzip.open(shared_data / "multi30k" / f"{name}.{language}.gz", "rt", encoding="utf-8") as file:
                head = "".join(itertools.islice(file, lines))
            if name == "train":
                with gzip.open(folder / f"{name}.{language}.gz", "wt", encoding="utf-8") as out:
                    out.write(head)
            else:
                (folder / f"{name}.{language}").write_text(head, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(text: Path) -> Path:
    output = text / "model"
    given = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    rnnsearch(
        *("train", "--source", text / "train.en.gz", "--target", text / "train.fr.gz"),
        *("--valid-source", text / "val.en", "--valid-target", text / "val.fr", "--output", output, *given),
    )
    return output


def test_it_learns(model: Path) -> None:
    record = json.loads((model / "training.json").read_text())
    nll = [row["valid_nll"] for row in record["validations"]]
    assert len(nll) == 3
    assert nll == sorted(nll, reverse=True)
    assert nll[-1] < math.log(2000) - 1
    assert math.isfinite(record["train_nll"])
    assert record["data"]["data"]["source_language"] == "en"
    assert record["updates"] == 60
    assert record["skipped_updates"] == 0


def test_it_translates(model: Path, text: Path) -> None:
    output = text / "out.fr"
    rnnsearch("translate", "--model", model, text / "test_2016_flickr.en", "--output", output, "--forbid-unk")
    lines = output.read_text(encoding="utf-8").split("\n")
    assert len(lines) == 31
    assert all(lines[:-1])
    assert "[UNK]" not in output.read_text(encoding="utf-8")


def test_batches_of_any_size_translate_alike(model: Path, text: Path) -> None:
    """Through the command line, which runs with all threads."""
    found = {
        rnnsearch("translate", "--model", model, text / "test_2016_flickr.en", "--set", f"search.batch_sentences={size}")
        for size in (1, 7, 64)
    }
    assert len(found) == 1


def test_it_is_evaluated(model: Path, text: Path) -> None:
    figures = text / "figures.json"
    files = ("--source", text / "test_2016_flickr.en", "--reference", text / "test_2016_flickr.fr")
    out = rnnsearch("evaluate", "--model", model, *files, "--json", figures)
    record = json.loads(figures.read_text())
    assert record["all"]["sentences"] == 30
    for key in ("bleu", "chrf", "brevity_penalty"):
        assert math.isfinite(record["all"][key])
    assert 0 < record["all"]["chrf"] < 100
    assert record["all"]["bleu_signature"] in out.replace("\n", "")


def test_given_pairs_are_scored_and_aligned(model: Path, text: Path) -> None:
    files = ("--source", text / "test_2016_flickr.en", "--target", text / "test_2016_flickr.fr")
    scores = [float(line) for line in rnnsearch("score", "--model", model, *files).splitlines()]
    assert len(scores) == 30
    assert all(math.isfinite(score) and score < 0 for score in scores)
    links = rnnsearch("align", "--model", model, *files, "--plot", text / "plots", "--plots", 2).splitlines()
    assert len(links) == 30
    assert len(list((text / "plots").glob("*.png"))) == 2
