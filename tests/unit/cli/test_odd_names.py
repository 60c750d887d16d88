"""Files whose names cannot be printed, are too long or lead in circles: one line that says so, or the work is done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Folders, Run, refused
from toy import write_pairs

NOT_UTF8 = os.fsdecode(b"caf\xe9.en")
ANY_ERROR = """
import rnnsearch.cli, rnnsearch.cli.commands as commands
def application(name): raise {error}
commands.application = application
rnnsearch.cli.main()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path, "test", 5, 3)
    Path("loop.en").symlink_to("loop.en")
    return tmp_path


def command(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """As a program: the streams of pytest take any text."""
    return subprocess.run([sys.executable, "-m", "rnnsearch", *arguments], capture_output=True)


def test_a_name_that_is_not_utf8_is_printed() -> None:
    done = command("translate", "--model", NOT_UTF8, "test.en")
    assert done.returncode == 2
    assert done.stderr.startswith(rb"rnnsearch: caf\udce9.en: no model here")


def test_a_line_feed_in_a_name_begins_no_line(rnnsearch: Run) -> None:
    refused(rnnsearch("translate", "--model", "two\nlines", "test.en"), r"two\nlines: no model here")


@pytest.mark.parametrize("name", ["n" * 300, "loop.en", "x/" * 3000, "test.en/below"])
def test_names_that_lead_nowhere(rnnsearch: Run, model_folder: Folders, name: str) -> None:
    model = model_folder("mlp")
    refused(rnnsearch("translate", "--model", name, "test.en"))
    refused(rnnsearch("translate", "--model", model, name))
    refused(rnnsearch("translate", "--model", model, "test.en", "--output", f"{name}/x" if name == "loop.en" else name))
    refused(rnnsearch("prepare", "--source", "test.en", "--target", "test.fr", "--output", name))


def test_text_under_any_name_is_prepared(rnnsearch: Run, place: Path) -> None:
    """Arrow takes only names in UTF-8; the packed text is written and read all the same."""
    shutil.copy("test.en", NOT_UTF8)
    output = place / os.fsdecode(b"r\xe9sultat")
    words = ("--set", "data.tokenizer=whitespace")
    done = rnnsearch("prepare", "--source", NOT_UTF8, "--target", "test.fr", "--output", output, *words)
    assert done.status == 0, done.err
    assert json.loads((output / "prepare.json").read_text())["pairs"] > 0
    training = ("--data", output, "--valid-source", "test.en", "--valid-target", "test.fr")
    refused(rnnsearch("train", *training, "--output", NOT_UTF8 + "-model"), "not UTF-8")
    assert not Path(NOT_UTF8 + "-model").exists()


def test_a_name_that_is_not_utf8_in_a_page(rnnsearch: Run, model_folder: Folders) -> None:
    shutil.copy("test.en", NOT_UTF8)
    done = rnnsearch("translate", "--model", model_folder("mlp"), NOT_UTF8, "--page", "page.html")
    assert done.status == 0, done.err
    assert "caf�.en" in Path("page.html").read_text(encoding="utf-8")


def test_select_from_files_of_any_name(rnnsearch: Run) -> None:
    shutil.copy("test.en", NOT_UTF8)
    general = ("--source", NOT_UTF8, "--target", "test.fr", "--output-source", "a" + NOT_UTF8, "--output-target", "b")
    done = rnnsearch("select", *general, "--in-domain-source", NOT_UTF8, "--in-domain-target", "test.fr", "--pairs", "2")
    assert done.status == 0, done.err
    assert len(Path("a" + NOT_UTF8).read_text().splitlines()) == 2


def test_outputs_that_are_links_in_a_circle(rnnsearch: Run) -> None:
    pairs = ("--source", "test.en", "--target", "test.fr", "--method", "random", "--pairs", "2")
    refused(rnnsearch("select", *pairs, "--output-source", "loop.en/a", "--output-target", "b"), "loop.en/a: cannot write")
    refused(rnnsearch("select", *pairs, "--output-source", "loop.en", "--output-target", "b"), "loop.en: cannot write")


def test_outputs_are_tried_before_the_work(rnnsearch: Run, model_folder: Folders) -> None:
    model = model_folder("mlp")
    refused(rnnsearch("translate", "--model", model, "test.en", "--output", "out", "--page", "/dev/null"), "/dev/null")
    given = ("--source", "test.en", "--reference", "test.fr", "--json", "out", "--output", "test.en/below")
    refused(rnnsearch("evaluate", "--model", model, *given), "test.en/below")
    assert not Path("out").exists()


def test_an_output_without_a_name(rnnsearch: Run, model_folder: Folders) -> None:
    refused(rnnsearch("translate", "--model", model_folder("mlp"), "test.en", "--output", ""), "name a file")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("OSError(36, 'long', 'x.en')", b"rnnsearch: x.en: File name too long\n"),
        ("OSError(28, 'full')", b"rnnsearch: the disk is full"),
        ("MemoryError", b"rnnsearch: out of memory"),
        ("RuntimeError('DefaultCPUAllocator: can\\'t allocate memory')", b"rnnsearch: out of memory"),
    ],
)
def test_errors_of_the_system_are_one_line(error: str, told: bytes) -> None:
    done = subprocess.run([sys.executable, "-c", ANY_ERROR.format(error=error)], capture_output=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(told)
    assert done.stderr.count(b"\n") == 1


def test_a_text_without_lines(rnnsearch: Run, model_folder: Folders) -> None:
    refused(rnnsearch("translate", "--model", model_folder("mlp"), "/dev/zero"), "/dev/zero:1", "is this a text?")


SIZES = ("model.embedding_size", "model.hidden_size", "model.encoder_layers", "training.batch_size", "training.accumulate",
         "search.beam", "search.max_segment", "search.maximum_length_ratio", "data.subword_pieces")  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_a_setting_that_nobody_can_have_meant(rnnsearch: Run, name: str) -> None:
    done = rnnsearch("train", "--source", "test.en", "--target", "test.fr", "--hold-out", "2", "--output", "out",
                     "--set", f"{name}=1000000000")  # fmt: skip
    refused(done, name, "1000000000")
    assert not Path("out").exists()


def test_a_model_larger_than_the_memory(rnnsearch: Run) -> None:
    sizes = [word for name in ("embedding", "hidden", "alignment") for word in ("--set", f"model.{name}_size=65000")]
    done = rnnsearch("train", "--source", "test.en", "--target", "test.fr", "--hold-out", "2", "--output", "out", *sizes)
    refused(done, "million parameters", "GB of memory")
    assert not Path("out").exists()


def test_more_translations_than_there_can_be(rnnsearch: Run, model_folder: Folders) -> None:
    model = model_folder("mlp")
    refused(rnnsearch("translate", "--model", model, "test.en", "--n-best", "1000000000"), "1000000000")
    refused(rnnsearch("translate", "--model", model, "test.en", "--beam", "100000000000000000000"), "search.beam")
