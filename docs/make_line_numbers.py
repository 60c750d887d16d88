"""Brings the line numbers in links to the source up to date: `python docs/make_line_numbers.py`.

A link such as [`GatedCell.step`](../../src/rnnsearch/model/cells.py#L1) leads to the definition that its text names.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

DOCS = Path(__file__).parent
LINK = re.compile(r"(\[`([\w.]+)`\]\(([^)#\s]+\.py)#L)\d+(?=\))")


def corrected(page: Path) -> str:
    """The text of a page, its links at the lines where the definitions begin; LookupError where one is not there."""

    def link(match: re.Match[str]) -> str:
        file = (page.parent / match[3]).resolve()
        lines = definitions(ast.parse(file.read_text(encoding="utf-8")))
        if match[2] not in lines:
            raise LookupError(f"{page}: {match[3]} does not define {match[2]}")
        return f"{match[1]}{lines[match[2]]}"

    return LINK.sub(link, page.read_text(encoding="utf-8"))


def definitions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> dict[str, int]:
    """The first lines of the classes, functions and methods of a module, by their qualified names."""
    lines = {}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            lines[prefix + node.name] = node.lineno
        if isinstance(node, ast.ClassDef):
            lines |= definitions(node, f"{prefix}{node.name}.")
    return lines


if __name__ == "__main__":
    for page in sorted(DOCS.rglob("*.md")):
        text = corrected(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"wrote {page}")
