"""HTML pages as the tests read them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

_VOID = {"meta", "br", "wbr", "img", "link", "input", "hr", "path", "use", "rect", "image"}
"""Elements without an end tag, or with none in SVG."""

HOSTILE = "</script></style><script>alert(1)</script><img src=x onerror='alert(2)'>\"&$\\{{ 7 * 7 }}{% raw %}"
"""Text that would do something if it became markup, or part of a template."""


class Page(HTMLParser):
    """A page's elements, its text, and the cells of its tables; AssertionError where a tag has no counterpart."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.tables: list[list[list[tuple[str, str]]]] = []
        """Tables of rows of cells: class and text. Tables of alignments are in `alignments`."""
        self.alignments: list[list[list[tuple[str, str]]]] = []
        """Likewise: style and text."""
        self._open: list[str] = []
        self._cells: list[list[list[tuple[str, str]]]] = self.tables
        self.feed(self.source)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "table":
            self._cells = self.alignments if attributes.get("class") == "alignment" else self.tables
            self._cells.append([])
        elif tag == "tr":
            self._cells[-1].append([])
        elif tag in ("td", "th"):
            kind = "style" if self._cells is self.alignments else "class"
            self._cells[-1][-1].append((attributes.get(kind, ""), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self._open):
            return
        self.text += data
        if {"td", "th"} & set(self._open):
            kind, before = self._cells[-1][-1][-1]
            self._cells[-1][-1][-1] = kind, before + data

    def of_class(self, name: str) -> list[dict[str, str]]:
        """The attributes of the elements of this class."""
        return [attributes for _, attributes in self.elements if name in attributes.get("class", "").split()]

    def row(self, table: int, name: str) -> list[tuple[str, str]]:
        """The row of a table whose first cell has this text."""
        return next(cells for cells in self.tables[table] if cells and cells[0][1] == name)

    @property
    def content_policy(self) -> str:
        """The page's Content-Security-Policy."""
        (policy,) = [a["content"] for _, a in self.elements if a.get("http-equiv") == "Content-Security-Policy"]
        return policy

    def does_nothing_but_its_own(self) -> bool:
        """Whether no element fetches, frames, submits or handles an event."""
        return not any(
            tag in ("link", "iframe", "img", "image", "object", "embed", "form", "a", "base")
            or any(name.startswith("on") or name in ("src", "action", "srcdoc") for name in attributes)
            or not attributes.get("href", "#").startswith("#")
            or not attributes.get("xlink:href", "#").startswith("#")
            for tag, attributes in self.elements
        )
