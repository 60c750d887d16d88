"""`rnnsearch download`, as a user types it, from a server on this machine."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rnnsearch.cli import app
from rnnsearch.datasets import DATASETS, Archive, Dataset, ParallelText, Text
from rnnsearch.errors import RnnsearchError
from serving import serving


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["download", *map(str, arguments)])


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
