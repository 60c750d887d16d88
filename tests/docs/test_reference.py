"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import rnnsearch
from benchmarks.pages import render
from rnnsearch.config import Config, ModelConfig, to_dict
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.model import PAPER_NAMES, RNNsearch

DOCS = Path(__file__).parents[2] / "docs"


def table_rows(page: Path) -> list[list[str]]:
    """The cells of all table rows of a page that begin with code, without its backquotes."""
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]


def test_symbols_are_those_of_the_code() -> None:
    rows = table_rows(DOCS / "reference" / "symbols.md")
    assert {row[0]: row[1] for row in rows} == PAPER_NAMES
    assert len(rows) == len(PAPER_NAMES)


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_shapes_are_those_of_the_code(alignment: str) -> None:
    sizes = {"m": 3, "n": 5, "n'": 7, "l": 11, "Kx": 13, "Ky": 17}
    sizes |= {"2l": 22, "2n": 10 if alignment == "mlp" else 5}
    config = ModelConfig(embedding_size=3, hidden_size=5, alignment_size=7, maxout_size=11, alignment=alignment)
    parameters = dict(RNNsearch(config, 13, 17).named_parameters())
    rows = {row[0]: row[3] for row in table_rows(DOCS / "reference" / "symbols.md")}
    if alignment == "mlp":
        assert set(parameters) == set(rows)
    for name, parameter in parameters.items():
        assert tuple(parameter.shape) == tuple(sizes[size] for size in rows[name].strip("()").split(", ")), name


def test_the_rendered_page_of_settings_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    rendering = load_script("docs/make_settings.py", monkeypatch)
    assert rendering.PAGE.read_text(encoding="utf-8") == rendering.page(), "run: python docs/make_settings.py"


@pytest.mark.parametrize("page", [*render.PAGES, *render.CARDS])
def test_rendered_pages_are_up_to_date(page: str) -> None:
    text = render.path_of(page).read_text(encoding="utf-8")
    assert text == render.render(page), "run: python benchmarks pages/render"


@pytest.mark.parametrize("page", render.PAGES)
def test_rendered_pages_name_their_scripts_and_records(page: str) -> None:
    text = render.path_of(page).read_text(encoding="utf-8")
    named = re.findall(r"`(results/[^`]+\.json)`", text)
    assert named
    for name in named:
        assert list((DOCS.parent / "benchmarks").glob(name)), name


def test_links_to_definitions_lead_to_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load_script("docs/make_line_numbers.py", monkeypatch)
    for page in DOCS.rglob("*.md"):
        assert page.read_text(encoding="utf-8") == script.corrected(page), "run: python docs/make_line_numbers.py"


def load_script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A script of the repository as a module."""
    path = DOCS.parent / name
    monkeypatch.syspath_prepend(path.parent)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look there for the names of their annotations
    spec.loader.exec_module(module)
    return module


def test_training_record_is_described(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=40, valid=3, test=1)
    config = rnnsearch.from_preset(
        "demo",
        {
            "model": {"embedding_size": 4, "hidden_size": 4, "alignment_size": 4, "maxout_size": 4},
            "training": {"max_updates": 1},
        },
    )
    folder = tmp_path / "model"
    rnnsearch.train(
        folder,
        config,
        sources=[tmp_path / "train.en"],
        targets=[tmp_path / "train.fr"],
        valid_source=tmp_path / "valid.en",
        valid_target=tmp_path / "valid.fr",
    )
    text = (DOCS / "reference" / "model-folder.md").read_text(encoding="utf-8")
    described = {name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)}
    assert set(json.loads((folder / "training.json").read_text(encoding="utf-8"))) <= described
    files = {path.name + "/" * path.is_dir() for path in folder.iterdir()} - {"checkpoints/"}
    assert files <= described
    assert (folder / "checkpoints" / "last.safetensors").exists()


def test_settings_named_in_the_pages_exist() -> None:
    known = {f"{section}.{key}" for section, keys in to_dict(Config()).items() for key in keys}
    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"`(?:--set )?((?:data|model|training|search)\.(?!py|json)[a-z_]+)(?: ?=[^`]*)?`", text))
        assert named - {"model.safetensors"} <= known, page.name
