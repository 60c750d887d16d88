"""Programs in surroundings that cannot be had within a process: read-only installations, other folders, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from running import ENVIRONMENT

import rnnsearch
from command_line import Folders
from toy import write_pairs

pytestmark = pytest.mark.system

PACKAGE = Path(rnnsearch.__file__).parent
SMALL = [
    word
    for setting in (
        "data.tokenizer=whitespace", "model.embedding_size=8", "model.hidden_size=8", "model.alignment_size=8",
        "model.maxout_size=8", "training.max_updates=2", "training.validate_every=2", "training.shards=2",
    )
    for word in ("--set", setting)
]  # fmt: skip
TRAIN = ["train", "--source", "test.en", "--target", "test.fr", "--valid-source", "test.en", "--valid-target", "test.fr",
         *SMALL, "--output", "out"]  # fmt: skip
PROGRAM = [sys.executable, "-m", "rnnsearch"]
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path, "test", 12, 3)
    return tmp_path


@pytest.fixture
def unshared() -> Callable[..., list[str]]:
    """A command in a namespace of its own; skips where this system gives none."""

    def command(kind: str, *words: str) -> list[str]:
        begin = ["unshare", f"--{kind}"] if os.geteuid() == 0 else ["unshare", "--map-root-user", f"--{kind}"]
        if not shutil.which("unshare") or subprocess.run([*begin, "true"], capture_output=True).returncode:
            pytest.skip(f"this system gives this user no {kind} namespace of its own")
        return [*begin, *words]

    return command


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, check=False)


@pytest.mark.slow
def test_a_read_only_installation_without_a_home(
    unshared: Callable[..., list[str]], model_folder: Folders, place: Path
) -> None:
    """The package as a container may have it, new, so that nothing has been compiled."""
    new = place / "installed"
    shutil.copytree(PACKAGE, new / "rnnsearch", ignore=shutil.ignore_patterns("__pycache__"))
    program = unshared("mount", "sh", "-c", READ_ONLY, "sh", str(new), sys.executable, "-P", "-m", "rnnsearch")
    away = {"PYTHONPATH": str(new), "HOME": "/nonexistent/home", "XDG_CACHE_HOME": "/proc/none"}
    done = run(*program, "presets", **away)
    if "mount:" in done.stderr:
        pytest.skip(f"this system mounts nothing for this user: {done.stderr}")
    pairs = ("--source", "test.en", "--target", "test.fr")
    model = str(model_folder("mlp"))
    # Notices that nothing can be kept: translating compiles nothing.
    for words, notices in ((("translate", "--model", model, "test.en"), 0), (("align", *pairs), 1)):
        done = run(*program, *words, **away)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 12
        assert done.stderr.count("NUMBA_CACHE_DIR") == notices
        assert done.stdout == run(*PROGRAM, *words).stdout
    assert not list(new.rglob("*.nbi"))


@pytest.mark.slow
def test_a_training_in_processes_runs_no_modules_of_the_working_folder_and_leaves_no_temporary_files(place: Path) -> None:
    """Nor does this program, where Python itself has not yet read them."""
    (place / "temporary").mkdir()
    names = ("sacremoses", "torch", "numpy", "typer", "rnnsearch", "logging", "typing_extensions")
    for name in names:
        (place / f"{name}.py").write_text(f"import os\nos.write(2, b'{name} was run')\n")
    program = [sys.executable, "-P", "-m", "rnnsearch"]
    done = run(*program, *TRAIN, "--processes", "2", TMPDIR=str(place / "temporary"))
    assert done.returncode == 0, done.stderr
    assert "was run" not in done.stderr
    assert {path.name.partition("_")[0] for path in (place / "temporary").iterdir()} <= {"torchinductor"}  # a cache
    (place / "rnnsearch.py").unlink()  # which Python would run in place of the package
    for words in (["presets", "small"], ["translate", "--model", "out", "test.en"]):
        done = run(*PROGRAM, *words)
        assert done.returncode == 0, done.stderr
        assert "was run" not in done.stderr


@pytest.mark.slow
def test_processes_that_cannot_reach_each_other(unshared: Callable[..., list[str]]) -> None:
    done = run(*unshared("net", *PROGRAM, *TRAIN, "--processes", "2"))
    assert done.returncode == 2
    assert done.stderr.startswith("rnnsearch: --processes 2: ")
    assert done.stderr.count("\n") == 1
    assert "loopback" in done.stderr
    assert not Path("out").exists()


@cache
def usual(*words: str) -> str:
    """The output of the program with these arguments in the environment of the tests."""
    return run(*PROGRAM, *words).stdout


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"PYTHONOPTIMIZE": "2"}, ["presets", "small"]),
        ({"PYTHONOPTIMIZE": "2"}, ["translate", "--help"]),
        ({"HOME": "", "LC_ALL": "nonsense", "LANG": "C", "TZ": "nonsense", "TERM": "dumb", "COLUMNS": "1"}, ["presets"]),
        ({"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}, ["presets", "small"]),
    ],
)
def test_variables_that_change_nothing(environment: dict[str, str], words: list[str]) -> None:
    done = run(*PROGRAM, *words, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == usual(*words).split()


@pytest.mark.slow
def test_figures_where_there_is_no_such_window(model_folder: Folders) -> None:
    words = ("align", "--model", str(model_folder("mlp")), "--source", "test.en", "--plot", "plots", "--plots", "1")
    done = run(*PROGRAM, *words, "--page", "page.html", MPLBACKEND="nonsense")
    assert done.returncode == 0, done.stderr
    assert Path("page.html").exists()
    assert len(list(Path("plots").iterdir())) == 1


def test_a_variable_that_others_read_stays_as_it_was() -> None:
    """A notebook says by it where its figures go."""
    code = "import os, rnnsearch.report, matplotlib\nprint(matplotlib.get_backend(), os.environ['MPLBACKEND'])"
    assert run(sys.executable, "-c", code, MPLBACKEND="svg").stdout == "svg svg\n"


def test_a_working_folder_that_is_gone(place: Path) -> None:
    done = subprocess.run(
        f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m rnnsearch presets",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "rnnsearch: the working folder has been removed; change into another one\n")


def test_too_little_memory_to_begin() -> None:
    done = subprocess.run(
        f"ulimit -v 400000; {sys.executable} -m rnnsearch translate /dev/null",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("rnnsearch: not enough memory: ")
    assert done.stderr.count("\n") == 1
