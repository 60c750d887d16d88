"""`rnnsearch export --onnx`: what it writes translates without rnnsearch, in Python and under Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import rnnsearch
from command_line import Run, refused
from rnnsearch.graphs.export import export_graphs
from rnnsearch.model_catalog import default_model

SENTENCES = [
    "I love you .",
    "The man is very old .",
    "We are going to the station .",
    "She has two brothers .",
    "This house is too small .",
    "I do not know his name .",
    "They want to eat now .",
    "The children are playing in the garden .",
    "He was born in Paris .",
    "Do you speak French ?",
]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graphs of the installed model from English to French, float32."""
    folder = tmp_path_factory.mktemp("exported") / "graphs"
    export_graphs(default_model("en-fr"), folder, "fp32")
    return folder


@pytest.fixture(scope="module")
def expected() -> list[list[int]]:
    """The ids of our own greedy translations, without the end."""
    translator = rnnsearch.load("en-fr")
    found = translator.translate(SENTENCES, beam=1, split_sentences=False)
    return [translator.system.vocabularies.target.encode(translation.tokens) for translation in found]


def test_the_script_translates_as_our_own_greedy_search(graphs: Path) -> None:
    translator = rnnsearch.load("en-fr")
    found = translator.translate(SENTENCES, beam=1, split_sentences=False)
    code = (
        "import runpy, sys; sys.argv = [sys.argv[1]]; runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "assert not {'torch', 'rnnsearch', 'onnx'} & set(sys.modules)"
    )
    lines = [" ".join(translator.source_words(sentence)) for sentence in SENTENCES]
    arguments = [sys.executable, "-c", code, graphs / "translate.py"]
    done = subprocess.run(arguments, input="\n".join([*lines, ""]).encode() + b"caf\xe9\n", capture_output=True, check=True)
    *translated, odd = done.stdout.decode().splitlines()
    assert [line.split() for line in translated] == [translation.tokens for translation in found]
    assert odd  # a line that is not UTF-8


def test_files_of_the_command(rnnsearch: Run, tmp_path: Path) -> None:
    model = default_model("en-fr")
    done = rnnsearch("export", "--model", model, "--onnx", tmp_path / "graphs")
    assert done.status == 0, done.err
    written = {path.name for path in (tmp_path / "graphs").iterdir()}
    texts = {"README.md", "config.json", "source.vocab", "target.vocab", "source.subwords", "target.subwords"}
    assert written == {"encoder.onnx", "step.onnx", "alignment_layer.onnx", "translate.py", *texts}
    for path in (tmp_path / "graphs").glob("*.onnx"):
        onnx.checker.check_model(path, full_check=True)
        assert path.stat().st_size < 6e6  # integers of 8 bits
    refused(rnnsearch("export", "--model", model, "--onnx", tmp_path / "graphs"), tmp_path / "graphs", "already")
    refused(rnnsearch("export", "--model", model), "--output", "--onnx")


def test_the_runtime_keeps_no_identity_in_the_home_folder(tmp_path: Path) -> None:
    """By itself, ONNX Runtime writes a number of this computer and a database there."""
    code = "from rnnsearch.graphs.engine import signed_products_are_exact; signed_products_are_exact()"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env={**environment, "HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.rglob("*"))


@pytest.mark.slow
def test_the_graphs_run_under_node(graphs: Path, expected: list[list[int]], tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("NOT TESTED: that the graphs run in onnxruntime-web; node or npm is not installed")
    installed = Path(os.environ.get("RNNSEARCH_ONNXRUNTIME_WEB", tmp_path))
    if installed == tmp_path:
        options = ["--prefix", str(tmp_path), "--no-audit", "--no-fund", "--ignore-scripts"]
        install = [npm, "install", *options, "onnxruntime-web"]
        try:
            subprocess.run(install, capture_output=True, check=True, timeout=300)
        except subprocess.SubprocessError as error:
            pytest.skip(f"NOT TESTED: that the graphs run in onnxruntime-web; npm cannot install it: {error}")
    place = installed / "node_modules" / "onnxruntime-web" / "dist" / "ort.node.min.mjs"
    source = rnnsearch.load("en-fr").system.vocabularies.source
    words = [source.encode(sentence.split()) for sentence in SENTENCES]
    arguments = [node, str(Path(__file__).parent / "translate.mjs"), str(place), str(graphs)]
    done = subprocess.run(arguments, input=json.dumps(words), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for ours, theirs in zip(expected, json.loads(done.stdout), strict=True):
        assert ours[:5] == theirs[:5]
