"""Texts that can be read only once, and outputs that would overwrite each other or an input."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import forked
from command_line import Folders, Run, refused
from toy import write_pairs


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path, "test", 5, 3)
    (tmp_path / "links").write_text("0-0\n" * 5)
    os.mkfifo(tmp_path / "pipe.en")
    os.mkfifo(tmp_path / "pipe.fr")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def fed(place: Path) -> Callable[[], None]:
    """Has somebody write the texts into the pipes, once."""

    def write(end: str) -> None:
        Path(f"pipe.{end}").write_bytes(Path(f"test.{end}").read_bytes())

    def start() -> None:
        for end in ("en", "fr"):
            threading.Thread(target=write, args=(end,), daemon=True).start()

    return start


READ_AGAIN = {
    "learn-links": "learn-links --model {model} --source pipe.en --target test.fr",
    "hold-out": "prepare --source pipe.en --target test.fr --hold-out 2 --output out",
    "hold-out in training": "train --source test.en --target pipe.fr --hold-out 2 --output out",
    "processes": "train --source test.en --target test.fr --valid-source pipe.en --valid-target test.fr --processes 2 "
    "--set training.shards=2 --output out",
    "models": "train --source test.en --target test.fr --valid-source pipe.en --valid-target test.fr --models 2 "
    "--output out",
    "settings": "train --source test.en --target test.fr --hold-out 2 --from {model} --config pipe.en --output out",
    "select": "select --source pipe.en --target test.fr --in-domain-source test.en --in-domain-target test.fr --pairs 2 "
    "--output-source out.en --output-target out.fr",
    "in-domain": "select --source test.en --target test.fr --in-domain-source pipe.en --in-domain-target test.fr --pairs 2 "
    "--output-source out.en --output-target out.fr",
    "reproduce": "reproduce --scale files --source pipe.en --target test.fr --valid-source test.en --valid-target test.fr "
    "--test-source test.en --test-target test.fr --output out",
    "the same pipe": "compare pipe.fr pipe.fr --reference test.fr",
    "one pipe for two options": "translate --model {model} pipe.en --prefix pipe.en",
    "standard input for two": "evaluate --model {model} --source - --reference /dev/stdin",
}


@pytest.mark.parametrize("name", READ_AGAIN)
def test_what_is_read_twice_is_refused_before_it_is_read(
    rnnsearch: Run, model_folder: Folders, place: Path, name: str
) -> None:
    before = names(place)
    words = READ_AGAIN[name].format(model=model_folder("mlp")).split()
    if "/dev/stdin" in words:
        reading, writing = os.pipe()
        process = forked.Popen(
            [sys.executable, "-c", "from rnnsearch.cli import main\nmain()", *words], stdin=reading, stderr=subprocess.PIPE
        )
        os.close(reading)
        _, err = process.communicate()
        os.close(writing)
        assert process.returncode == 2
        assert b"can be read only once" in err
        return
    refused(rnnsearch(*words), "can be read only once", "write it into a file")
    assert names(place) == before


def test_pipes_are_aligned(rnnsearch: Run, fed: Callable[[], None]) -> None:
    """And nothing is lost on the way to an output."""
    plain = rnnsearch("align", "--source", "test.en", "--target", "test.fr")
    fed()
    done = rnnsearch("align", "--source", "pipe.en", "--target", "pipe.fr", "--output", "out", "--save", "aligner")
    assert done.status == 0, done.err
    assert Path("out").read_text() == plain.out
    assert plain.out.count("\n") == 5
    assert not Path("out.parts").exists()


@pytest.mark.parametrize("command", ["translate {model} pipe.en", "score {model} -s pipe.en -t pipe.fr",
                                     "evaluate {model} -s pipe.en -r pipe.fr", "align {model} -s pipe.en -t pipe.fr",
                                     "prepare -s pipe.en -t pipe.fr -o out --set data.tokenizer=whitespace"])  # fmt: skip
def test_what_is_read_once_may_be_a_pipe(
    rnnsearch: Run, model_folder: Folders, fed: Callable[[], None], command: str
) -> None:
    def words(text: str) -> list[str]:
        return text.replace("{model}", f"--model {model_folder('mlp')}").split()

    plain = rnnsearch(*words(command.replace("pipe", "test")))
    shutil.rmtree("out", ignore_errors=True)
    fed()
    done = rnnsearch(*words(command))
    assert done.status == plain.status == 0, done.err
    if "evaluate" not in command:  # which prints seconds
        assert done.out == plain.out


def test_no_pairs_are_not_aligned(rnnsearch: Run, model_folder: Folders) -> None:
    Path("empty").touch()
    pairs = ("align", "--source", "empty", "--target", "empty", "--output", "out")
    assert rnnsearch("align", "--source", "test.en", "--target", "test.fr", "--save", "kept").status == 0
    for given in (("--save", "aligner"), ("--model", model_folder("mlp")), ("--model", "kept")):
        done = rnnsearch(*pairs, *given)
        assert done.status == 2
        assert done.err.splitlines()[-1].endswith("empty: no pairs to align")
        assert not Path("out").exists()
        assert not Path("aligner").exists()


TWICE = {
    "translate": "translate --model {model} test.en --output {one} --page {other}",
    "evaluate": "evaluate --model {model} --source test.en --reference test.fr --output {one} --json {other}",
    "align": "align --model {model} --source test.en --output {one} --page {other}",
    "aligner": "align --source test.en --target test.fr --output {one} --save {other}",
    "plots": "align --model {model} --source test.en --output {one} --plot {other}",
    "select": "select --source test.en --target test.fr --in-domain-source test.en --in-domain-target test.fr --pairs 2 "
    "--output-source {one} --output-target {other}",
    "scores": "select --source test.en --target test.fr --in-domain-source test.en --in-domain-target test.fr --pairs 2 "
    "--output-source {one} --output-target fine --scores {other}",
}
SAME = [("out", "./out"), ("out", "{here}/out"), ("out", "link"), ("linked/out", "out"), ("out", "out.parts")]


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("same", SAME, ids="-".join)
def test_two_outputs_of_one_name(
    rnnsearch: Run, model_folder: Folders, place: Path, name: str, same: tuple[str, str]
) -> None:
    Path("link").symlink_to("out")
    Path("linked").symlink_to(".")
    before = names(place)
    one, other = (each.format(here=place) for each in same)
    words = TWICE[name].format(model=model_folder("mlp"), one=one, other=other)
    refused(rnnsearch(*words.split()), "is used already")
    assert names(place) == before


READ_AND_WRITTEN = {
    "translate": "translate --model {model} test.en --output {name}",
    "page": "translate --model {model} test.en --page {name}",
    "terms": "translate --model {model} test.fr --terms test.en --output {name}",
    "align": "align --source test.en --target test.fr --output {name}",
    "gold": "align --source test.fr --target test.fr --gold test.en --output {name}",
    "project": "project --format html --source test.en --target test.fr --links links --output {name}",
    "pronounce": "pronounce --model {model} --file test.en --output {name}",
    "examples": "examples --model {model} test.en --output {name}",
    "average": "average --model {model} --model {model} --output {model}",
}


@pytest.mark.parametrize("name", READ_AND_WRITTEN)
@pytest.mark.parametrize("written", ["test.en", "./test.en", "link", "hard"])
def test_an_output_that_is_an_input(rnnsearch: Run, model_folder: Folders, place: Path, name: str, written: str) -> None:
    Path("link").symlink_to("test.en")
    Path("hard").hardlink_to("test.en")
    text = Path("test.en").read_bytes()
    words = READ_AND_WRITTEN[name].format(model=model_folder("mlp"), name=written)
    refused(rnnsearch(*words.split()), "is used already")
    assert Path("test.en").read_bytes() == text
    assert not Path("test.en").is_symlink()


def test_an_output_that_standard_input_comes_from(model_folder: Folders) -> None:
    with Path("test.en").open("rb") as text:
        command = [sys.executable, "-c", "from rnnsearch.cli import main\nmain()"]
        words = ["translate", "--model", str(model_folder("mlp")), "--output", "./test.en"]
        process = forked.Popen([*command, *words], stdin=text, stderr=subprocess.PIPE)
        _, err = process.communicate()
    assert process.returncode == 2
    assert b"is used already" in err
