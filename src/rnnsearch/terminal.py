"""Rich's console for what this program shows: names and words of strangers are shown as they are.

No markup and no emoji are read from text, and control characters are written as escapes. What is to be bold or dim has a
style (`style="bold"`), and a part of a line is a `rich.text.Text`.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType
from rich.progress import ProgressColumn, Task
from rich.status import Status
from rich.text import Text

from rnnsearch.errors import printable


class Terminal(Console):
    """A console that takes nothing in a text for a command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **options})

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text that is printed, and that is in a table, comes here."""
        return super().render_str(printable(text, lines=True), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """A line that says what is being done."""
        return _PlainStatus(status, console=self, **options)


class DescriptionColumn(ProgressColumn):
    """A column of a bar with the description of what is done, or with a fixed text."""

    def __init__(self, text_format: str = "{task.description}", style: str = "none") -> None:
        self._text_format, self._style = text_format, style
        super().__init__()

    def render(self, task: Task) -> Text:
        """The description as it is."""
        return Text(printable(self._text_format.format(task=task)), style=self._style)


class _PlainStatus(Status):
    """A status whose text is not read as markup."""

    def __init__(self, status: RenderableType, **options: Any) -> None:
        super().__init__(_plain(status), **options)

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        super().update(None if status is None else _plain(status), **options)


def _plain(text: RenderableType) -> RenderableType:
    return Text(printable(text)) if isinstance(text, str) else text
