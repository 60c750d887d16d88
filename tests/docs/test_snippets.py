"""What the documentation tells the reader to type works.

Every page is a story: its ```python and ```sh blocks run in their order, in a folder of its own that holds small texts and,
unless the story trains it, a tiny `model`. Trainings are cut short, by a stand-in for `rnnsearch` that adds settings and
calls the real one. `demo` and `reproduce` take long, `download` needs a network or makes more text than the folder has: they
are only parsed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import forked
import rnnsearch
from kept import kept
from rnnsearch.cli.commands import application
from rnnsearch.cli.options import settings
from rnnsearch.datasets.builtin import write_corpus
from spelling import spelt_words, write_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

SHELL = ("sh", "console", "bash")
NOT_OURS = ("pip", "make", "git", "tensorboard", ".venv/bin/pytest", ".venv/bin/ruff")
"""Lines that begin with these are not run."""

MAIN = "from rnnsearch.cli import main; main()"

SERVER = "localhost:5000"
"""Where a server is in the pages; in a story it listens on a port that is free."""

TINY = {
    "model": {"embedding_size": 8, "hidden_size": 12, "alignment_size": 8, "maxout_size": 8},
    "training": {"max_updates": 6, "validate_every": 3, "validate_sentences": 4, "batch_size": 20},
}


class Block(NamedTuple):
    language: str
    line: int
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(match[1], text.count("\n", 0, match.start()) + 1, match[2])


def shell_lines(block: Block) -> list[str]:
    """The command lines of a shell block; of a transcript, those after a `$`."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip() and not line.startswith("#")]


def our_commands(line: str) -> Iterator[list[str]]:
    """The arguments of each `rnnsearch` in a command line."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    command: list[str] = []
    for word in [*words, ";"]:
        if word and set(word) <= set("|&;<>()"):
            if command[:1] == ["rnnsearch"]:
                yield command[1:]
            command = []
        else:
            command.append(word)


@cache
def parser() -> typer.core.TyperGroup:
    """The command line's parser."""
    return typer.main.get_command(application())


def check_command(arguments: list[str]) -> None:
    """Raise unless the command line knows this command, its options, and the settings and presets that it names.

    A setting may have a value that the plugin defines, which is not loaded here.
    """
    command = parser()
    plugin = arguments[0] == "--plugin"
    arguments = arguments[2:] if plugin else arguments
    name, subcommand, rest = command.resolve_command(command.make_context("rnnsearch", list(arguments)), arguments)
    if {"-h", "--help"} & set(rest):
        return
    parsed = subcommand.make_context(name, rest).params
    settings(parsed.get("preset") or "small", None, None if plugin else parsed.get("set_"))


STORIES = [page for page in PAGES if any(block.language in ("python", *SHELL) for block in blocks(page))]
COMMANDS = [
    pytest.param(arguments, id=f"{page.relative_to(ROOT)}:{block.line}: {' '.join(arguments)[:60]}")
    for page in PAGES
    for block in blocks(page)
    if block.language in SHELL
    for line in shell_lines(block)
    for arguments in our_commands(line)
]


def make_texts(folder: Path) -> None:
    """Small texts and a tiny model."""
    write_corpus(folder, train=200, valid=6, test=6)
    for language in ("en", "fr"):
        shutil.copy(folder / f"valid.{language}", folder / f"extra.{language}")
    shutil.copy(folder / "train.gold", folder / "train.links")
    (folder / "wikipron").mkdir()
    for name in ("fra_latn_broad", "slv_latn_broad"):
        write_table(folder / "wikipron" / f"{name}.tsv", spelt_words(200, 1))
    rnnsearch.train(
        folder / "model",
        rnnsearch.from_preset("demo", TINY),
        sources=[folder / "train.en"],
        targets=[folder / "train.fr"],
        valid_source=folder / "valid.en",
        valid_target=folder / "valid.fr",
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of the stories: with the stand-in for `rnnsearch`, whose processes are forked (see `tests/forked.py`)."""
    folder = tmp_path_factory.mktemp("bin")
    short = " ".join(f"--set {section}.{key}={value}" for section, keys in TINY.items() for key, value in keys.items())
    real = shlex.join(forked.command(MAIN))
    stand_in = folder / "rnnsearch"
    stand_in.write_text(
        '#!/bin/sh\ncase "$1" in\n  demo|reproduce|download|push) exit ;;\n'
        f'  train) exec {real} "$@" {short} ;;\n  *) exec {real} "$@" $(test "${{3-}}" != train || echo {short}) ;;\nesac\n'
    )
    stand_in.chmod(0o755)
    interpreter = Path(sys.executable).parent  # `python` in a page is the one that runs the tests
    return {**os.environ, "PATH": f"{folder}:{interpreter}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("arguments", COMMANDS)
def test_command_parses(arguments: list[str]) -> None:
    check_command(arguments)


def test_every_command_has_an_example() -> None:
    page = ROOT / "docs" / "reference" / "commands.md"
    shown = {
        arguments[0]
        for block in blocks(page)
        if block.language in SHELL
        for line in shell_lines(block)
        for arguments in our_commands(line)
    }
    assert shown == {
        *("demo", "prepare", "train", "translate", "score", "evaluate", "compare", "align", "lexicon", "presets"),
        *("reproduce", "rescore", "download", "select", "average", "export", "examples", "push", "models", "serve"),
        *(
            "project",
            "pronounce",
            "learn-links",
            "check",
            "explain",
            "atools",
            "eflomal-align",
            "eflomal-makepriors",
            "fast_align",
        ),
        *("memory", "adapt"),
    }
    headings = set(re.findall(r"^## ([\w-]+)$", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert headings == shown


QUICK = ("README.md",)
"""The stories that `make test` runs."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name in QUICK else pytest.mark.slow) for page in STORIES],
    ids=[str(page.relative_to(ROOT)) for page in STORIES],
)
def test_story(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """Run the page's blocks; the first that fails is told. A line that was run is not run again."""
    folder = tmp_path / "folder"
    story = [block for block in blocks(page) if block.language in ("python", *SHELL)]
    commands = [line for block in story if block.language in SHELL for line in shell_lines(block)]
    trains_model = any(re.search(r"train .*--output model( |$)", line) for line in commands)
    shutil.copytree(kept(make_texts), folder, ignore=shutil.ignore_patterns("model") if trains_model else None)
    done: set[str] = set()
    port = _free_port()
    with ExitStack() as stack:
        python: subprocess.Popen[str] | None = None
        for block in story:
            place = f"{page.relative_to(ROOT)}:{block.line}"
            if block.language == "python":
                python = python or stack.enter_context(_interpreter(folder, environment))
                assert python.stdin is not None
                assert python.stdout is not None
                text = block.text.replace(SERVER, f"localhost:{port}")
                print(json.dumps([place, block.line, text]), file=python.stdin, flush=True)
                error = json.loads(python.stdout.readline() or '"Python has gone"')
                assert not error, f"{place}\n{error}"
                continue
            for line in shell_lines(block):
                if line in done or line.startswith(NOT_OURS):
                    continue
                done.add(line)
                if line.split()[:2] == ["rnnsearch", "serve"]:
                    stack.enter_context(_server([*shlex.split(line)[1:], "--port", str(port)], port, folder, environment))
                    continue
                command = ["bash", "-euo", "pipefail", "-c", line.replace(SERVER, f"localhost:{port}")]
                ran = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
                )
                assert ran.returncode == 0, f"{place}: {line}\n{ran.stdout}{ran.stderr}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def _server(arguments: list[str], port: int, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A server that runs while the story goes on."""
    command = [sys.executable, "-c", MAIN, *arguments]
    with forked.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE) as process:
        for _ in range(600):
            assert process.poll() is None, f"{arguments}\n{process.stderr and process.stderr.read().decode()}"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def _interpreter(folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import interpreter; interpreter.main()"
    with forked.Popen(
        [sys.executable, "-c", code, json.dumps(TINY)],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as python:
        yield python
        assert python.stdin is not None
        python.stdin.close()
