"""What a release is made of says the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from rnnsearch.version import __version__, describe

ROOT = Path(__file__).parents[2]


def test_one_version() -> None:
    """The changelog, the citation and the program name the same version, which the package takes from the program.

    What is not released yet has no version.
    """
    newest = re.search(r"^## \[(\d[^]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"] == ["version"]


def test_versions_of_what_matters() -> None:
    first, *libraries = describe().splitlines()
    assert first == f"rnnsearch {__version__}"
    versions = dict(line.split(maxsplit=1) for line in libraries)
    assert {"python", "torch", "numpy", "sentencepiece", "platform"} <= set(versions)
    assert re.match(r"\d+\.\d+", versions["torch"])


def test_layers_of_the_documentation() -> None:
    """The list of layers in CONTRIBUTING.md is the contract that import-linter checks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. (`.*`)$", contributing, re.MULTILINE)
    assert [re.findall(r"`(\w+)`", line) for line in listed] == [layer.split(" | ") for layer in contract["layers"]]


def test_layout_of_the_documentation() -> None:
    """The table of the layout in CONTRIBUTING.md names all packages and modules, and no others."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = contributing.partition("## Layout of the source")[2].partition("\n\n")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines() for name in re.findall(r"`([\w.]+/?)`", row.split("|")[1])}
    source = ROOT / "src" / "rnnsearch"
    packages = {f"{path.parent.name}/" for path in source.glob("*/__init__.py")} | {"box/"}
    modules = {path.name for path in source.glob("*.py") if not path.name.startswith("__")}
    assert named - {"src/rnnsearch/"} == packages | modules
