"""Heat maps of soft alignments, as in the paper's Figure 3."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError
from rnnsearch.report.figures import (
    INK,
    font_families,
    new_figure,
    quiet_about_glyphs,
    save_figure,
)
from rnnsearch.report.xml_text import printable

MAX_WORDS = 150
"""The largest number of words on either side of a heat map; with more, it would be too large, or its words too small."""

_CELL = 0.24
"""The width and height of a square of the heat map in inches, which is just enough for a line of text."""
_MARGIN = 0.08
_FONT_SIZE = 10
_LONGEST_LABEL = 32


def check_alignment(alignment: NDArray[np.floating], source_tokens: Sequence[str], target_tokens: Sequence[str]) -> None:
    """Raise RnnsearchError unless `alignment` has one finite weight for every pair of target word and source word."""
    expected = (len(target_tokens), len(source_tokens))
    if alignment.shape != expected:
        raise RnnsearchError(
            f"the alignment has shape {alignment.shape}, but there are {expected[0]} target and {expected[1]} source words; "
            "give target × source weights, the source's end symbol included"
        )
    if not np.isfinite(alignment).all():
        raise RnnsearchError(
            "the alignment has a weight that is not finite; check whether the training of the model diverged"
        )


def plot_alignment(
    alignment: NDArray[np.floating],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw the weights α_ij of a translation: a row for each target word, a column for each source word.

    Black is 0 and white is 1. `alignment` is target words × source words; the source words normally end with `</s>`, which
    receives attention like any other word. With `path`, the figure is also written to this file (.png, .pdf or .svg).

    Raises RnnsearchError if `alignment` does not have one finite weight for every pair of target word and source word, if it
    is empty, or if it has more than `MAX_WORDS` words on a side.
    """
    check_alignment(alignment, source_tokens, target_tokens)
    if alignment.size == 0:
        raise RnnsearchError("heat map: there are no words to draw; give a sentence that is not empty")
    if max(alignment.shape) > MAX_WORDS:
        raise RnnsearchError(
            f"heat map: there are {alignment.shape[0]} × {alignment.shape[1]} words, but at most {MAX_WORDS} on a side "
            "can be drawn; give a shorter sentence, or a part of the alignment and its words"
        )
    rows, columns = alignment.shape
    figure = new_figure(columns * _CELL, rows * _CELL)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.imshow(alignment, cmap="gray", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    # Without parse_math, dollar signs in words would enclose formulas.
    style: dict[str, Any] = {
        "parse_math": False,
        "fontfamily": font_families(),
        "fontsize": _FONT_SIZE,
        "color": INK,
    }
    axes.set_xticks(range(columns), [_label(word) for word in source_tokens], rotation=90, **style)
    axes.set_yticks(range(rows), [_label(word) for word in target_tokens], **style)
    axes.tick_params(length=0, pad=3, top=True, labeltop=True, bottom=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set(color=INK, linewidth=0.6)
    if title is not None:
        axes.set_title(printable(title), pad=8, **{**style, "fontsize": _FONT_SIZE + 1})
    _fit_around(figure)
    if path is not None:
        save_figure(figure, path)
    return figure


def _label(word: str) -> str:
    word = printable(word)
    return word if len(word) <= _LONGEST_LABEL else word[: _LONGEST_LABEL - 1] + "…"


def _fit_around(figure: Figure) -> None:
    """Enlarge the figure so that it contains its words; the axes keep their size, so that the squares stay square."""
    (axes,) = figure.axes
    cells_width, cells_height = figure.get_size_inches()
    with quiet_about_glyphs():
        drawn = figure.get_tightbbox()
    inside = Bbox.union([drawn, Bbox.from_bounds(0, 0, cells_width, cells_height)]).padded(_MARGIN)
    figure.set_size_inches(inside.width, inside.height)
    axes.set_position(
        (
            -inside.x0 / inside.width,
            -inside.y0 / inside.height,
            cells_width / inside.width,
            cells_height / inside.height,
        )
    )
