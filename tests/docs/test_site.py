"""The documentation site builds without a warning, is complete, and loads nothing from other addresses."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import rnnsearch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TOOLS = ("mkdocs", "material", "mkdocstrings_handlers.python", "latex2mathml")


class Document(HTMLParser):
    """What a page of the site links to, what it loads, its anchors, and its text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.text = ""
        self._code = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "script", "style")
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name == "href" and value and tag == "a":
                self.links.append(value)
            elif name in ("src", "href") and value and tag != "a":
                self.loads.append(value)

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    missing = [tool for tool in TOOLS if not importlib.util.find_spec(tool.split(".")[0])]
    if missing:
        pytest.skip(f"the site cannot be built: {', '.join(missing)} not installed (pip install -e '.[docs]')")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_on_the_site(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("")
        assert (site / name).with_suffix(".html").exists(), page


def test_links_and_files_of_the_site_exist(site: Path, documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        if path.name == "404.html":  # its addresses are those of a server's root
            continue
        for target in [*document.links, *document.loads]:
            assert target not in ("", "http://", "https://"), path
            if re.match(r"(https?|mailto|data):", target):
                continue
            file, anchor = urldefrag(target)
            linked = (path.parent / unquote(file)).resolve() if file else path
            assert linked.is_file(), f"{path.relative_to(site)}: {target}"
            if anchor and linked.suffix == ".html":
                assert unquote(anchor) in documents[linked].anchors, f"{path.relative_to(site)}: {target}"


def test_nothing_is_loaded_from_other_addresses(site: Path, documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        foreign = [target for target in document.loads if re.match(r"(https?:)?//", target)]
        assert not foreign, path.relative_to(site)
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path.relative_to(site)


def test_markdown_is_rendered(site: Path, documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        left = re.search(r"```|\*\*\w|\]\(|\$\$|\$\\|^\|.*\|$|^ *- \S|^::: ", document.text, re.MULTILINE)
        assert not left, f"{path.relative_to(site)}: {left and document.text[left.start() - 60 : left.end() + 60]!r}"


def test_public_interface_is_described(site: Path) -> None:
    anchors = Document((site / "reference" / "python.html").read_text(encoding="utf-8")).anchors
    described = {anchor.rsplit(".", 1)[-1] for anchor in anchors}
    assert set(rnnsearch.__all__) <= described
