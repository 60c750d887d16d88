"""What uses a trained model, and the aligner, run without PyTorch and everything else that only training needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from rnnsearch.model_catalog import BOX
from served import Served

BLOCKED = ("torch", "pyarrow", "tensorboard", "matplotlib", "triton")
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED}))"
RUN = f"""
{BLOCK}
import json
from rnnsearch.cli import main
status = {{}}
for arguments in json.load(open(sys.argv[1])):
    sys.argv = ["rnnsearch", *arguments]
    try:
        main()
    except SystemExit as end:
        status[" ".join(arguments)] = end.code
json.dump(status, open("status.json", "w"))
"""
TRANSLATED = """
import sys
from rnnsearch.cli import main
sys.argv = ["rnnsearch", "translate", "--model", "en-fr", "--set", "search.precision={precision}"]
try:
    main()
except SystemExit as end:
    assert not end.code
heavy = {{"torch", "numba", "pyarrow", "matplotlib", "tensorboard", "sacrebleu", "triton"}}
print(sorted(heavy & set(sys.modules)))
"""


def run_without(commands: list[list[str]], folder: Path) -> tuple[dict[str, int], list[str]]:
    """The exit statuses of commands, one after the other in a process without those packages, and the errors."""
    (folder / "commands.json").write_text(json.dumps(commands))
    code = [sys.executable, "-c", RUN, "commands.json"]
    environment = {**os.environ, "RNNSEARCH_MODELS": ""}
    done = subprocess.run(code, capture_output=True, text=True, check=True, cwd=folder, env=environment)
    return json.loads((folder / "status.json").read_text()), done.stderr.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with text, a model, and a page."""
    shutil.copytree(BOX / "en-fr", tmp_path / "model")
    (tmp_path / "a.en").write_text("The house is small.\nShe reads a book.\nThe house is old.\n")
    (tmp_path / "a.fr").write_text("La maison est petite.\nElle lit un livre.\nLa maison est vieille.\n")
    (tmp_path / "a.tsv").write_text("The house is small.\tLa maison est petite.\n")
    (tmp_path / "a.html").write_text("<p>The <b>house</b> is small.</p>\n")
    (tmp_path / "n-best").write_text("0 ||| La maison est petite . ||| ||| -1\n1 ||| Elle lit . ||| ||| -2\n")
    return tmp_path


@pytest.mark.slow
def test_every_command_that_does_not_train(folder: Path) -> None:
    model, pairs = ["--model", "model"], ["--source", "a.en", "--target", "a.fr"]
    commands = [
        ["--version"],
        ["translate", *model, "a.en", "--output", "translated"],
        ["translate", *model, "--html", "a.html", "--output", "translated.html"],
        ["translate", *model, "a.en", "--n-best", "2", "--format", "json", "--output", "translated.json"],
        ["score", *model, *pairs, "--output", "scores"],
        ["score", *model, *model, *pairs, "--output", "scores-of-two", "--jobs", "2"],
        ["align", *model, *pairs, "--output", "links"],
        ["align", *pairs, "--output", "links-of-the-aligner"],
        ["rescore", *model, "--source", "a.en", "n-best", "--weight", "1", "--output", "rescored"],
        ["lexicon", *model, *pairs],
        ["translate", *model, "a.en", "--set", "search.vocabulary_selection=100", "--output", "selected"],
        ["evaluate", *model, "--source", "a.en", "--reference", "a.fr"],
        ["pronounce", "a.en", "--output", "pronounced"],
        ["memory", "corrections", "--languages", "en,fr", "a.tsv"],
        ["models"],
        ["export", *model, "--onnx", "graphs"],
        ["export", *model, "--output", "copy"],
        ["check", "--template", "numpy"],
        ["explain", "The house is small.", *model, "--page", "steps.html"],
        ["evaluate", *model, "--source", "a.en", "--reference", "a.fr", "--report", "report.html"],
    ]
    status, _ = run_without(commands, folder)
    assert status == dict.fromkeys(map(" ".join, commands), 0)
    assert (folder / "translated").read_text().startswith("La maison est petite.\n")
    scores, of_two = ([float(one) for one in (folder / name).read_text().split()] for name in ("scores", "scores-of-two"))
    assert len(scores) == 3
    assert scores == pytest.approx(of_two, abs=1e-5)  # an ensemble of a model and itself
    assert (folder / "model" / "lexicon.tsv").exists()


def test_the_server(folder: Path) -> None:
    server = Served(folder / "model", folder / "log", before=BLOCK)
    try:
        assert server.translate("The house is small.") == "La maison est petite."
        with urllib.request.urlopen(server.url, timeout=60) as page:
            assert page.status == 200
    finally:
        server.process.terminate()
        server.process.wait()


def test_what_needs_an_extra_says_which_in_one_line(folder: Path) -> None:
    pairs = ["--source", "a.en", "--target", "a.fr"]
    commands = {
        "torch": ["train", *pairs, "--valid-source", "a.en", "--valid-target", "a.fr", "--output", "new"],
        "pyarrow": ["prepare", *pairs, "--output", "prepared"],
        "torch ": ["demo"],
        "matplotlib": ["translate", "--model", "model", "a.en", "--page", "page.html", "--output", "translated"],
        "matplotlib ": ["align", "--model", "model", *pairs, "--plot", "plots", "--output", "links"],
    }
    status, errors = run_without(list(commands.values()), folder)
    assert set(status.values()) == {2}
    extras = [(name.strip(), "plots" if name.startswith("matplotlib") else "train") for name in commands]
    assert errors == [
        f"rnnsearch: this needs the package {package}, which is not installed: pip install 'rnnsearch[{extra}]'"
        for package, extra in extras
    ]
    assert not (folder / "new").exists()


@pytest.mark.parametrize("what", ["rnnsearch.train", "rnnsearch.nn", "rnnsearch.model.RNNsearch", "rnnsearch.load('m.zst')"])
def test_the_interface_says_so_too(what: str, tmp_path: Path) -> None:
    if what.startswith("rnnsearch.load"):
        what = "list(__import__('rnnsearch.data.lines').data.lines.read_lines(__import__('pathlib').Path('text.zst')))"
        (tmp_path / "text.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00")
    code = (
        f"{BLOCK}\nimport rnnsearch\n"
        f"try:\n    {'import rnnsearch.model; ' if '.model.' in what else ''}{what}\n"
        f"except rnnsearch.RnnsearchError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.endswith("which is not installed: pip install 'rnnsearch[train]'\n")


def test_a_translation_imports_nothing_of_training() -> None:
    for precision in ("fp32", "int8"):
        command = [sys.executable, "-c", TRANSLATED.format(precision=precision)]
        done = subprocess.run(command, input="The house is small.\n", capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["La maison est petite.", "[]"]
