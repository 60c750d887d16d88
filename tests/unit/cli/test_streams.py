"""Standard streams that are closed, full, or read by nobody: the work is done, or one line says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest

import forked
from command_line import Folders
from toy import write_pairs

CLOSED = """
import os, sys
for number, name in enumerate(("stdin", "stdout", "stderr")):
    if str(number) in {closed!r}:
        os.close(number)
        setattr(sys, name, None)
        setattr(sys, "__" + name + "__", None)
"""
"""What Python has where streams were closed before it began."""
MAIN = "from rnnsearch.cli import main\nmain()\n"
ALL = ["".join(some) for count in (1, 2, 3) for some in combinations("012", count)]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path, "test", 5, 3)
    return tmp_path


def run(*arguments: object, closed: str = "", streams: Mapping[str, int] | None = None) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-c", CLOSED.format(closed=closed) + MAIN, *map(str, arguments)]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **(streams or {})}
    with forked.Popen(command, **given) as process:
        out, err = process.communicate()
    return process.returncode, out, err


def one_line(err: bytes, told: bytes) -> None:
    assert err.startswith(b"rnnsearch: "), err
    assert err.count(b"\n") == 1, err
    assert told in err


@pytest.mark.parametrize("closed", ALL)
def test_work_that_needs_no_streams_is_done_without_them(model_folder: Folders, closed: str) -> None:
    """By commands that write files, and tell something on the way."""
    model = model_folder("mlp")
    given = ("--source", "test.en", "--target", "test.fr")
    commands: Sequence[tuple[object, ...]] = (
        ("translate", "--model", model, "test.en", "--output", "translated", "--page", "page.html"),
        ("align", *given, "--output", "links", "--save", "aligner", "--gold", "gold"),
        ("evaluate", "--model", model, "--source", "test.en", "--reference", "test.fr", "--json", "scores.json"),
        ("export", "--model", model, "--output", "copy"),
    )
    Path("gold").write_text("0-0\n" * 5)
    for words in commands:
        status, out, err = run(*words, closed=closed)
        assert status == 0, (words, err)
        assert not ("1" in closed and out)
        assert not ("2" in closed and err)
    assert len(Path("translated").read_text().splitlines()) == 5
    assert len(Path("links").read_text().splitlines()) == 5
    assert Path("page.html").stat().st_size
    assert Path("scores.json").stat().st_size
    assert Path("copy/config.json").exists()


def test_results_that_nobody_can_get_are_not_computed(model_folder: Folders) -> None:
    model = model_folder("mlp")
    pairs = ("--source", "test.en", "--target", "test.fr")
    for words in (
        ("translate", "--model", model, "test.en"),
        ("score", "--model", model, *pairs),
        ("align", *pairs),
        ("align", "--model", model, *pairs),
        ("evaluate", "--model", model, "--source", "test.en", "--reference", "test.fr"),
        ("compare", "test.fr", "test.fr", "--reference", "test.fr"),
        ("presets", "small"),
        ("models",),
    ):
        status, _, err = run(*words, closed="1")
        assert status == 2, words
        one_line(err, b"standard output is closed")


def test_standard_input_that_is_closed(model_folder: Folders) -> None:
    for words in (("translate",), ("pronounce",), ("align", "--source", "-", "--target", "test.fr")):
        given = () if words[0] == "pronounce" else ("--model", model_folder("mlp"))
        status, _, err = run(*words, *given, closed="0")
        assert status == 2
        assert err.splitlines()[-1] == b"rnnsearch: -: standard input is closed; name a file"


def test_an_error_that_nobody_reads() -> None:
    status, out, _ = run("presets", "none", closed="2")
    assert (status, out) == (2, b"")


def test_standard_output_that_is_full(model_folder: Folders) -> None:
    with Path("/dev/full").open("wb") as full:
        for words in (("presets", "small"), ("--help",), ("translate", "--model", model_folder("mlp"), "test.en")):
            status, _, err = run(*words, streams={"stdout": full.fileno()})
            assert status == 2
            one_line(err, b"the disk is full")


def test_what_is_printed_comes_after_what_is_written(model_folder: Folders) -> None:
    words = ("evaluate", "--model", model_folder("mlp"), "--source", "test.en", "--reference", "test.fr")
    with Path("/dev/full").open("wb") as full:
        status, _, err = run(*words, "--json", "scores.json", "--output", "translated", streams={"stdout": full.fileno()})
    assert status == 2
    one_line(err[err.rindex(b"rnnsearch: ") :], b"the disk is full")
    assert json.loads(Path("scores.json").read_text())["source"] == "test.en"
    assert len(Path("translated").read_text().splitlines()) == 5


def test_standard_output_that_nobody_reads(model_folder: Folders) -> None:
    for words in (("presets", "small"), ("--help",), ("translate", "--model", model_folder("mlp"), "test.en")):
        reading, writing = os.pipe()
        os.close(reading)
        status, _, err = run(*words, streams={"stdout": writing})
        os.close(writing)
        assert (status, err) == (1, b""), words


@pytest.mark.parametrize("kind", ["full", "unread"])
def test_what_standard_error_does_not_take_stops_no_work(model_folder: Folders, kind: str) -> None:
    if kind == "full":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, writing = os.pipe()
        os.close(reading)
    pairs = ("--source", "test.en", "--target", "test.fr")
    assert run("align", *pairs, "--output", "links", streams={"stderr": writing})[0] == 0
    assert run("presets", "none", streams={"stderr": writing})[0] == 2
    os.close(writing)
    assert len(Path("links").read_text().splitlines()) == 5


@pytest.mark.slow
def test_started_with_closed_streams() -> None:
    """Not as if: by a shell, as cron does it."""
    command = f"{sys.executable} -m rnnsearch presets none"
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True)
        assert (done.returncode, done.stdout) == (2, b"")
        if "2>" not in closed:
            one_line(done.stderr, b"")
