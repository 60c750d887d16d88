"""What MkDocs does not do by itself: links to files of the repository, and equations without JavaScript.

A page links to files outside `docs/` in the way that GitHub resolves (`../../src/rnnsearch/model/attention.py#L40`). On the
site, each of these files has a page of its own under `source/`: a Markdown file as it is, any other as numbered code.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(#[^)\s]+)?(?=\))")
CODE_PAGE = """\
---
search:
  exclude: true
hide: [navigation, toc]
---

# {path}

~~~~~~ {{ .{language} linenums="1" }}
{text}
~~~~~~
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file of the repository that the documentation links to."""
    pages = [Path(file.abs_src_path) for file in files.documentation_pages()]
    while pages:
        page = pages.pop()
        for path, _ in LINK.findall(page.read_text(encoding="utf-8")):
            linked = (page.parent / path).resolve()
            uri = _uri(linked)
            if uri.startswith("source/") and files.get_file_from_path(uri) is None and linked.is_file():
                files.append(File.generated(config, uri, content=_content(linked), inclusion=InclusionLevel.NOT_IN_NAV))
                if linked.suffix == ".md":
                    pages.append(linked)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have links to files of the repository lead to their pages on the site."""
    uri = page.file.src_uri
    is_source = uri.startswith("source/")
    origin = ROOT / uri.removeprefix("source/") if is_source else Path(config.docs_dir) / uri

    def site_link(match: re.Match[str]) -> str:
        target = _uri((origin.parent / match[1]).resolve())
        if not is_source and not target.startswith("source/"):
            return match[0]
        anchor = re.sub(r"^#(L\d+)$", r"?\1", match[2] or "")  # MkDocs knows no anchors within code
        return os.path.relpath(target, Path(uri).parent) + anchor

    return LINK.sub(site_link, markdown) if not is_source or origin.suffix == ".md" else markdown


def on_page_content(html: str, **_: object) -> str:
    """Have links lead to lines of code, and browsers draw the equations, as MathML."""
    html = re.sub(r'(href="[^"?]*)\?L(\d+)"', r'\1#__codelineno-0-\2"', html)
    return re.sub(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', _mathml, html, flags=re.DOTALL)


def _mathml(match: re.Match[str]) -> str:
    mathml = convert(unescape(match[3]).strip(), display="block" if match[2] == "[" else "inline")
    ElementTree.fromstring(mathml)  # what the converter does not know, it copies, and that is no XML
    return mathml


def _uri(path: Path) -> str:
    """Where the site has a file of the repository, before it is rendered."""
    relative = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    if relative.startswith("docs/"):
        return relative.removeprefix("docs/")
    return f"source/{relative}" if relative.endswith(".md") else f"source/{relative}.md"


def _content(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return CODE_PAGE.format(path=path.relative_to(ROOT), language=path.suffix[1:] or "text", text=text)
