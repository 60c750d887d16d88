"""What `memory --export` and `translate --format tmx` write is read back as a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Folders, Run, refused
from rnnsearch import memory as memory_module
from rnnsearch.data.read import languages_of_text, read_pairs
from rnnsearch.memory import Memory

PAIR = "en", "fr"


def test_a_memory_is_exported_and_read_back(rnnsearch: Run, tmp_path: Path) -> None:
    folder, path = tmp_path / "corrections", tmp_path / "out.tmx"
    refused(rnnsearch("memory", folder, "--export", path), f"{folder}: there is no translation memory")
    pairs = [("Press <g1>OK</g1> & go", "Appuyez sur <g1>OK</g1> & partez"), ("a\x01b", "c")]
    Memory(folder).add(PAIR, pairs)
    done = rnnsearch("memory", folder, "--export", path)
    assert (done.status, done.out) == (0, "en-fr\t2\n"), done.err
    assert languages_of_text(path, path) == PAIR
    assert list(read_pairs([path], [path])) == [pairs[0], ("a\ufffdb", "c")]

    Memory(folder).add(("fr", "en"), [("x", "y")])
    refused(rnnsearch("memory", folder, "--export", path), "the memory has en-fr, fr-en; say which are written")
    refused(rnnsearch("memory", folder, "--export", path, "--languages", "en,de"), "the memory has en-fr, fr-en")
    assert next(read_pairs([path], [path])) == pairs[0], "it is as it was"
    assert rnnsearch("memory", folder, "--export", path, "--languages", "fr,en").status == 0
    assert list(read_pairs([path], [path])) == [("x", "y")]
    refused(rnnsearch("memory", folder, "--export", tmp_path / "out.csv"), "give a name that ends in .tmx")


def test_a_large_memory_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "_AT_ONCE", 10)
    memory = Memory(tmp_path)
    pairs = [(f"s{number}", f"t{number}") for number in range(25)]
    memory.add(PAIR, pairs)
    assert list(memory.pairs(PAIR)) == pairs


def test_lines_are_translated_into_a_memory(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model = ["--model", model_folder("mlp")]
    text, path = tmp_path / "text.en", tmp_path / "out.tmx"
    text.write_text("the dog sees a cat .\n\n  a man & a <dog> .\n")
    lines = rnnsearch("translate", *model, text).out.splitlines()
    done = rnnsearch("translate", *model, text, "--format", "tmx", "--output", path)
    assert done.status == 0, done.err
    assert languages_of_text(path, path) == PAIR
    expected = [("the dog sees a cat .", lines[0].strip()), ("a man & a <dog> .", lines[2].strip())]
    assert list(read_pairs([path], [path])) == expected
    assert rnnsearch("translate", *model, text, "--format", "tmx").out == path.read_text()
    again = rnnsearch("translate", *model, path, "--format", "tmx").out
    assert again == path.read_text(), "the sources of a memory"
    refused(rnnsearch("translate", *model, text, "--format", "tmx", "--n-best", "2"), "one translation of each line")
