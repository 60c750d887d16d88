"""`--help` answers for every command, and at once: nothing that is slow to import is imported for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

COMMANDS = [
    *("demo", "prepare", "train", "translate", "score", "evaluate", "compare", "align", "lexicon", "presets"),
    *("reproduce", "rescore", "download", "select", "average", "export", "examples", "push", "models", "serve"),
    *("project", "pronounce", "check", "explain", "memory", "adapt"),
]
STAND_INS = ["atools", "eflomal-align", "eflomal-makepriors", "fast_align"]
SLOW = ["torch", "numpy", "pyarrow", "matplotlib", "sacrebleu", "sacremoses", "tensorboard"]


def python(code: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, text=True, env=environment, check=False
    )


def run_then_list_imports(*arguments: str) -> str:
    return (
        f"import sys; sys.argv = ['rnnsearch', *{list(arguments)!r}]\n"
        "from rnnsearch.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    print('status', stop.code)\n"
        f"print('imported', [name for name in {SLOW!r} if name in sys.modules])\n"
    )


HELP_OF_EACH = """
import contextlib, functools, io, json, os, sys, typer.main
from rnnsearch.cli import main
typer.main.get_command = functools.cache(typer.main.get_command)
sys.argv = ["rnnsearch", "presets", "--help"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
for command, code in json.loads(sys.stdin.read()).items():
    print(f"\\0{command}\\0", end="", flush=True)
    if os.fork() == 0:
        exec(code)
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0
"""
"""Every command in a process of its own, forked from one that has already printed the help of a command."""


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What each command prints for `--help`, its status, and what it has imported."""
    codes = {command: run_then_list_imports(command, "--help") for command in (*COMMANDS, *STAND_INS)}
    done = python(HELP_OF_EACH, json.dumps(codes))
    assert (done.returncode, done.stderr) == (0, "")
    parts = done.stdout.split("\0")[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("command", [*COMMANDS, *STAND_INS])
def test_help(command: str, helps: dict[str, str]) -> None:
    out = helps[command]
    assert "status 0" in out
    assert "imported []" in out
    assert f"rnnsearch {command}" in out
    if command != "presets":
        assert "--" in out.replace("--help", "")


def test_help_lists_every_command() -> None:
    done = python(run_then_list_imports("--help") + "print('heavy', [m for m in ('pydantic', 'rich') if m in sys.modules])")
    assert "imported []" in done.stdout
    assert "heavy []" in done.stdout
    for command in COMMANDS:
        assert f" {command} " in done.stdout
    assert all(f"`{command}`" in done.stdout for command in STAND_INS)
    assert "..." not in done.stdout.split("Commands:")[1], "every summary fits on its line"


def test_presets_need_nothing_slow() -> None:
    done = python(run_then_list_imports("presets", "small"))
    assert "[training]" in done.stdout
    assert "imported []" in done.stdout


def test_importing_the_package_is_quick() -> None:
    done = python(f"import sys, rnnsearch; print([name for name in {SLOW!r} if name in sys.modules])")
    assert done.stdout.strip() == "[]"
