"""`rnnsearch download`, as a user types it, from a server on this machine or from the package itself."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner, Result

from rnnsearch.cli.commands import application
from rnnsearch.data.read import read_table
from rnnsearch.datasets import DATASETS, Archive, Dataset, ParallelText, Text
from rnnsearch.errors import RnnsearchError
from serving import serving


def run(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["download", *map(str, arguments)])


def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        sides = [Text(Archive(f"{server.url}/train.{language}.gz")) for language in ("en", "fr")]
        texts = (ParallelText("train", *sides),)
        monkeypatch.setitem(DATASETS, "multi30k", Dataset("multi30k", "Captions", "research only", ("en", "fr"), texts))
        refused = run("multi30k", "--output", tmp_path)
        assert isinstance(refused.exception, RnnsearchError)
        assert f"{server.url}/train.en.gz: the server answers 404" in str(refused.exception)
        server.files = {"train.en.gz": gzip.compress(b"a dog\n"), "train.fr.gz": gzip.compress(b"un chien\n")}
        done = run("multi30k", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "research only" in done.stderr
    assert "1 pairs  train" in done.stderr
    assert (tmp_path / "train.fr").read_text() == "un chien\n"
    again = run("multi30k", "--output", tmp_path)  # without the server
    assert again.exit_code == 0, again.output
    assert "is already complete" in again.stderr


def test_download_of_what_is_not_known(tmp_path: Path) -> None:
    done = run("wmt99", "--output", tmp_path)
    assert done.exit_code == 2
    assert "wmt14-enfr" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_builtin_corpus_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", connect)
    done = run("builtin", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "MIT" in done.stderr
    assert [line.split()[:3] for line in done.stderr.splitlines()[-3:]] == [
        ["60,000", "pairs", "train"],
        ["500", "pairs", "valid"],
        ["500", "pairs", "test"],
    ]
    files = {f"{part}.{ending}" for part in ("train", "valid", "test") for ending in ("en", "fr", "gold")}
    assert {path.name for path in tmp_path.iterdir()} == {*files, "manifest.json"}
    lines = {name: (tmp_path / name).read_text(encoding="utf-8").splitlines() for name in files}
    for part, pairs in (("train", 60_000), ("valid", 500), ("test", 500)):
        assert [len(lines[f"{part}.{ending}"]) for ending in ("en", "fr", "gold")] == [pairs] * 3
    assert lines["test.fr"][0] == "Jeanne prépare l'aventure et une réunion."
    assert "is already complete" in run("builtin", "--output", tmp_path).stderr
    (tmp_path / "test.gold").unlink()
    assert "is already complete" not in run("builtin", "--output", tmp_path).stderr
    assert (tmp_path / "test.gold").exists()
    refused = run("multi30k", "--output", tmp_path)
    assert isinstance(refused.exception, RnnsearchError)
    assert "holds builtin already" in str(refused.exception)


def test_a_dictionary_is_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        server.files["fra_latn_broad.tsv"] = "abaque\ta b a k\nabaque\ta b ɑ k\nà\ta\n".encode()
        monkeypatch.setattr("rnnsearch.datasets.catalog._WIKIPRON", server.url)
        done = run("wikipron", "fra_latn_broad", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert "CC BY-SA" in done.stderr
    assert "2 pairs  fra_latn_broad" in done.stderr
    assert list(read_table(tmp_path / "fra_latn_broad.tsv")) == [("abaque", "a b a k"), ("à", "a")]
    for arguments in (["wikipron"], ["cmudict", "fra_latn_broad"]):
        refused = run(*arguments, "--output", tmp_path)
        assert isinstance(refused.exception, RnnsearchError)
        assert "wikipron fra_latn_broad" in str(refused.exception)
