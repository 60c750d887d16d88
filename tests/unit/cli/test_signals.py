"""Signals end a command at any moment: quietly, with the status of a shell, and with nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import forked
from command_line import Folders
from toy import write_pairs

AT_WORK = """
import builtins, os, signal, sys, time
import rnnsearch.{module} as module

def wait(*_, **__):
    {body}

module.{name} = wait
from rnnsearch.cli import main
main()
"""
"""A command that, instead of some work, does something else."""
TEXT = ("align", "--source", "test.en", "--target", "test.fr")
WAIT = "print('ready', file=sys.stderr); time.sleep(60)"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    write_pairs(tmp_path, "test", 5, 3)
    return tmp_path


def started(body: str, words: Sequence[object] = TEXT) -> forked.Popen:
    code = AT_WORK.format(module="alignment", name="Aligner.learn", body=body)
    return forked.Popen([sys.executable, "-c", code, *map(str, words)], stdout=-1, stderr=-1, text=True)


def end_of(process: subprocess.Popen[Any], *numbers: int) -> tuple[int, str]:
    """The status of a process that is sent these signals when it is at work, and what it told."""
    assert process.stderr is not None
    told = ""
    while "ready" not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    for number in numbers:
        process.send_signal(number)
    _, rest = process.communicate(timeout=60)
    return process.returncode, rest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("output", [(), ("--output", "links")])
def test_a_signal_ends_the_work(place: Path, number: int, output: tuple[str, ...]) -> None:
    before = sorted(path.name for path in place.iterdir())
    status, told = end_of(started(WAIT, (*TEXT, *output)), number)
    assert (status, told) == (128 + number, "")
    assert sorted(path.name for path in place.iterdir()) == before
    assert not list((place / "temporary").glob("rnnsearch-*"))


@pytest.mark.parametrize(
    "body",
    [
        # A library that takes the end for something else, and one whose clean-up waits, so that the user asks again.
        f"try:\n        {WAIT}\n    except BaseException:\n        raise ImportError('no such module')",
        f"try:\n        {WAIT}\n    finally:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
    ],
    ids=["mistaken", "twice"],
)
def test_whatever_comes_of_it_is_quiet(body: str) -> None:
    status, told = end_of(started(body), signal.SIGINT)
    assert status in (130, -signal.SIGINT)
    assert told == ""


def test_a_signal_where_nothing_can_be_raised() -> None:
    """Such as in a callback of the import system."""
    body = "class Dies:\n        def __del__(self): print('ready', file=sys.stderr); time.sleep(60)\n    Dies()"
    status, told = end_of(started(body), signal.SIGINT)
    assert (status, told) == (130, "")


def test_an_ignored_signal_stays_ignored() -> None:
    """By nohup, or for a job in the background."""
    body = "print('ready', file=sys.stderr); time.sleep(1); raise SystemExit(7)"
    code = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + AT_WORK.format(
        module="alignment", name="Aligner.learn", body=body
    )
    process = forked.Popen([sys.executable, "-c", code, *TEXT], stdout=-1, stderr=-1, text=True)
    assert end_of(process, signal.SIGHUP)[0] == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [0.0, 0.1, 0.3])
def test_a_signal_while_it_starts(model_folder: Folders, number: int, moment: float) -> None:
    """After Python itself, and the first lines, without which nobody could listen.

    The text comes from a pipe that stays open, since on a fast machine a file would be translated before the signal.
    """
    code = "import os\nfrom rnnsearch.cli import main\nos.write(1, b'x')\nmain()"
    command = [sys.executable, "-c", code, "translate", "--model", str(model_folder("mlp")), "--output", "out"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(0.02 + moment)
        process.send_signal(number)
        process.wait(60)
        _, err = process.communicate()
    assert b"Traceback" not in err
    assert b"ignored" not in err
    assert process.returncode == 128 + number
