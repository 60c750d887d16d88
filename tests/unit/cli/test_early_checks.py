"""What is wrong with a command is said before anything slow is imported, and nothing is imported that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Folders, Run, refused

WRONG = {
    "translate": "translate --model {model} none.txt",
    "prefix": "translate --model {model} {text} --prefix none.txt",
    "evaluate": "evaluate --model {model} --source {text} --reference none.txt",
    "score": "score --model {model} --source {text} --target none.txt",
    "align": "align --model {model} --source none.txt",
    "gold": "align --model {model} --source {text} --target {text} --gold none.txt",
    "rescore": "rescore --model {model} --source {text} none.txt",
    "compare": "compare {text} none.txt --reference {text}",
    "lexicon": "lexicon --model {model} --source {text} --target none.txt",
    "train": "train --source {text} --target none.txt --hold-out 5 --output out",
    "links": "train --source {text} --target {text} --links none.txt --hold-out 5 --output out",
    "valid": "train --source {text} --target {text} --valid-source {text} --valid-target none.txt --output out",
    "prepare": "prepare --source {text} --target none.txt --output out",
    "select": "select --source {text} --target none.txt --output-source a --output-target b --pairs 3",
    "in-domain": "select --source {text} --target {text} --output-source a --output-target b --in-domain-source none.txt",
    "reproduce": "reproduce --scale builtin --output out --system Moses=none.txt",
}
NO_MODEL = ["translate", "evaluate", "score", "align", "rescore", "lexicon"]

PROGRAM = """
import json, sys
from rnnsearch.cli import main
for name, command in json.load(sys.stdin).items():
    sys.argv = ["rnnsearch", *command]
    print(name, file=sys.stderr)
    try:
        main()
    except SystemExit as stop:
        print(name, stop.code)
print([name for name in ("torch", "sacrebleu", "matplotlib", "pyarrow", "sacremoses") if name in sys.modules])
"""


def test_missing_files_are_found_before_anything_slow_is_imported(model_folder: Folders, tmp_path: Path) -> None:
    text = tmp_path / "text.en"
    text.write_text("a cat .\n" * 20)
    places = {"model": str(model_folder("mlp")), "text": str(text)}
    commands = {name: command.format(**places).split() for name, command in WRONG.items()}
    for name in NO_MODEL:
        commands[f"{name} of nothing"] = [word.replace(places["model"], "no-model") for word in commands[name]]
    commands["no development set"] = f"train --source {text} --target {text} --hold-out 0 --output out".split()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    *statuses, imported = done.stdout.splitlines()
    assert imported == "[]"
    assert statuses == [f"{name} 2" for name in commands]
    told = dict(zip(commands, done.stderr.splitlines()[1::2], strict=True))
    assert all(told[name] == "rnnsearch: none.txt: no such file" for name in WRONG)
    assert all("no-model: no model here" in told[f"{name} of nothing"] for name in NO_MODEL)
    assert "--valid-source and --valid-target" in told["no development set"]
    assert "--hold-out N" in told["no development set"]
    assert [path.name for path in tmp_path.iterdir()] == ["text.en"]


def test_translating_imports_no_more_than_it_needs(model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("a cat .\n")
    unwanted = ["matplotlib", "sacrebleu", "pyarrow", "tensorboard", "sacremoses", "rich", "sentencepiece"]
    command = ["translate", "--model", str(model_folder("mlp")), "text.en"]
    program = (
        "import sys\n"
        "from rnnsearch.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        f"print([name for name in {unwanted!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    translation, imported = done.stdout.splitlines()
    assert translation
    assert imported == "[]"


@pytest.mark.parametrize("name", ["folder", "secret"])
def test_what_cannot_be_read_is_named(rnnsearch: Run, model_folder: Folders, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    else:
        path.write_text("a cat .\n")
        path.chmod(0)
        try:
            path.read_text()
        except PermissionError:
            pass
        else:
            pytest.skip("this user may read everything")
    told = "this is a folder" if name == "folder" else "Permission denied"
    refused(rnnsearch("translate", "--model", model_folder("mlp"), path), path, told)


def test_a_wrong_setting_names_itself_once(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("a cat .\n")
    done = rnnsearch("translate", "--model", model_folder("mlp"), tmp_path / "text.en", "--set", "search.beam=many")
    refused(done)
    assert done.err.startswith("rnnsearch: search.beam = 'many': ")


def test_int8_on_a_gpu_is_one_line(
    rnnsearch: Run, model_folder: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says nothing of files and lines of Python."""
    (tmp_path / "text.en").write_text("a cat .\nthe dog sees a man .\n")
    monkeypatch.setattr("rnnsearch.system.System.device", property(lambda system: "cuda"))
    command = ("translate", "--model", model_folder("mlp"), tmp_path / "text.en")
    plain, done = rnnsearch(*command), rnnsearch(*command, "--set", "search.precision=int8")
    assert done.status == 0
    assert done.out == plain.out
    assert done.err.count("\n") == 1
    assert done.err.startswith("rnnsearch: search.precision = int8: ")
    assert "float32" in done.err
    assert ".py" not in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "training.droput=0.1"], "training.dropout"),
        (["--set", "training.patience=3"], "training.patience"),
        (["--set", "model.alignment=none"], "model.alignment"),
        (["--set", "training.dropout=2"], "training.dropout = '2'"),
    ],
)
def test_reproduce_refuses_settings(rnnsearch: Run, tmp_path: Path, arguments: list[str], told: str) -> None:
    refused(rnnsearch("reproduce", "--scale", "builtin", "--output", tmp_path / "out", *arguments), told)
    assert not (tmp_path / "out").exists()
