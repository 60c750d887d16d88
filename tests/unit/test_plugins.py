"""Alignment models and cells of a user's own file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnnsearch import plugins
from rnnsearch.config import from_preset
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch
from rnnsearch.model.attention import ATTENTIONS

PLUGIN = """
import torch
from torch import nn
from rnnsearch.model import AdditiveAttention

class Biased(AdditiveAttention, name="biased"):
    def __init__(self, hidden_size, context_size, alignment_size):
        super().__init__(hidden_size, context_size, alignment_size)
        self.offset = nn.Parameter(torch.zeros(alignment_size))
        self.own = nn.Parameter(torch.zeros(3))

    def initial_weight(self, name, weight, generator):
        return weight.fill_(7.0) if name == "own" else None
"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The names and classes are afterwards what they were."""
    monkeypatch.setattr(plugins, "NAMES", {kind: list(names) for kind, names in plugins.OWN.items()})
    monkeypatch.setenv(plugins.VARIABLE, "")  # so that it is put back afterwards
    before = dict(ATTENTIONS)
    yield
    ATTENTIONS.clear()
    ATTENTIONS.update(before)
    for name in [name for name in sys.modules if name.startswith("rnnsearch_plugin_")]:
        del sys.modules[name]


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("scheme", ["paper", "glorot"])
def test_a_class_of_a_file_is_an_alignment_model(tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "biased.py"
    path.write_text(PLUGIN)
    with pytest.raises(RnnsearchError, match=r"model.alignment = 'biased': .*'mlp'.* plugin .*--plugin FILE.py"):
        from_preset("demo", {"model": {"alignment": "biased"}})
    plugins.load_files([path])
    config = from_preset("demo", {"model": {"alignment": "biased"}})
    model = RNNsearch(config.model, 5, 6)
    model.initialize(scheme, seed=1)
    weights = dict(model.named_parameters())
    assert weights["decoder.alignment.own"].tolist() == [7, 7, 7]
    assert weights["decoder.alignment.offset"].std() > 0  # a vector whose name nothing knows


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import torch\n\nx = 1 / 0\n", "broken.py, line 3: ZeroDivisionError: division by zero"),
        ("x = (\n", "broken.py, line 1: SyntaxError"),
        ("import no_such_module\n", "broken.py, line 1: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_plugin_that_fails_is_refused_with_its_line(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(RnnsearchError, match=reason):
        plugins.load_files([path])


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("name", ["missing.py", "a folder", "notes.txt"])
def test_what_is_no_python_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "notes.txt").write_text("x = 1\n")
    with pytest.raises(RnnsearchError, match="not a Python file"):
        plugins.load_files([tmp_path / name])


@pytest.mark.usefixtures("registry")
def test_child_processes_have_the_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "biased.py"
    path.write_text(PLUGIN)
    monkeypatch.setenv(plugins.VARIABLE, str(path))
    plugins.load_inherited()
    assert plugins.known("alignment", "biased")
