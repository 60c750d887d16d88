"""An alignment as a table in HTML, which notebooks show for a translation."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

MAX_WORDS = 100
"""The largest number of words on either side; a larger table would be unreadable."""
INVISIBLE = 0.005
"""Weights below this get no colour, and take no space in the notebook's file."""

# Colours are mixed with the notebook's own background, and text has the notebook's own colour, light or dark.
_COLOUR = "66 133 244"
_CELL = "border:1px solid rgb(128 128 128/.25);padding:0;min-width:1.5em;height:1.5em"
_COLUMN = (
    "writing-mode:vertical-rl;transform:rotate(180deg);font-weight:normal;text-align:left;vertical-align:bottom;"
    "padding:.3em 0"
)
_ROW = "font-weight:normal;text-align:right;white-space:nowrap;padding:0 .5em"


def as_html(
    text: str, remark: str, source_tokens: Sequence[str], tokens: Sequence[str], alignment: NDArray[np.floating] | None
) -> str:
    """Return the text, a remark, and a table of the weights α with a row for each target and a column for each source word.

    A weight sets the opacity of a cell's colour, and is in the cell's tooltip. All text is escaped. The HTML contains no
    script, and styles only as attributes.
    """
    head = f'<div dir="auto"><strong>{escape(text)}</strong></div><div><small>{escape(remark)}</small></div>'
    if alignment is None or not len(tokens):
        return f"<div>{head}</div>"
    if max(len(source_tokens), len(tokens)) > MAX_WORDS:
        return f"<div>{head}<div><small>The alignment has more than {MAX_WORDS} words on a side.</small></div></div>"
    columns = "".join(f'<th scope="col" style="{_COLUMN}">{escape(word)}</th>' for word in source_tokens)
    rows = "".join(
        f'<tr><th scope="row" style="{_ROW}">{escape(token)}</th>'
        + "".join(_cell(float(weight), word, token) for weight, word in zip(weights, source_tokens, strict=True))
        + "</tr>"
        for weights, token in zip(alignment, tokens, strict=True)
    )
    return (
        f'<div>{head}<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:.5em 0">'
        f"<tr><td></td>{columns}</tr>{rows}</table></div></div>"
    )


def _cell(weight: float, source: str, target: str) -> str:
    if not weight >= INVISIBLE:
        return f'<td style="{_CELL}"></td>'
    title = escape(f"{target} ← {source}: {weight:.2f}")
    return f'<td style="{_CELL};background:rgb({_COLOUR}/{min(weight, 1.0):.2f})" title="{title}"></td>'
