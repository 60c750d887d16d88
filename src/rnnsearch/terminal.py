"""A console of Rich that prints untrusted text literally.

Markup and emoji codes in text are not interpreted, and control characters are printed as escapes. To print bold or dim text,
pass a style (`style="bold"`), or a `rich.text.Text` for a part of a line.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType
from rich.progress import ProgressColumn, Task
from rich.status import Status
from rich.text import Text

from rnnsearch.errors import printable

_NARROWEST = 20
"""The least number of columns that a terminal or the variable `COLUMNS` may give; tables in fewer are unreadable."""
_UNLIMITED = 10_000
"""The width of what goes into a file or a pipe, where nothing is folded: more columns than a table of results has."""


class Terminal(Console):
    """A console that interprets nothing in a text as markup, and folds lines only for a terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **options})
        if "width" not in options:
            if not self.file.isatty():
                self.width = _UNLIMITED
            elif self.width < _NARROWEST:
                self.width = 80

    def render_str(self, text: str, **options: Any) -> Text:
        """Convert a string for printing, with escapes for control characters; Rich calls this for every string."""
        return super().render_str(printable(text, lines=True), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """Return a status line whose text is printed literally."""
        return _LiteralStatus(status, console=self, **options)


class DescriptionColumn(ProgressColumn):
    """A column of a progress bar with the description of the task, or with a fixed text."""

    def __init__(self, text_format: str = "{task.description}", style: str = "none") -> None:
        self._text_format, self._style = text_format, style
        super().__init__()

    def render(self, task: Task) -> Text:
        """Return the literal text of the column."""
        return Text(printable(self._text_format.format(task=task)), style=self._style)


class _LiteralStatus(Status):
    """A status line whose text is not interpreted as markup."""

    def __init__(self, status: RenderableType, **options: Any) -> None:
        super().__init__(_literal(status), **options)

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        super().update(None if status is None else _literal(status), **options)


def _literal(text: RenderableType) -> RenderableType:
    return Text(printable(text)) if isinstance(text, str) else text
