"""BLEU against sentence length, as in the paper's Figure 2."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.figure import Figure

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.report.figures import (
    INK,
    SERIES,
    add_legend,
    font_families,
    new_figure,
    plain_axes,
    save_figure,
    start_at_zero,
)
from rnnsearch.report.xml_text import printable

# Lines also differ in style, so that they can be distinguished in black and white.
_LINES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def plot_bleu_by_length(
    systems: Mapping[str, Sequence[LengthBin]],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw BLEU against the length of the source sentence, with a line for each system.

    `systems` maps the names of systems to their bins. The axis shows the number of sentences of each bin; a bin without
    sentences is a gap in the line. With `path`, the figure is also written to this file (.png, .pdf or .svg).

    Raises RnnsearchError if there is no system, or if the systems were not scored on the same test set with the same edges.
    """
    if not systems:
        raise RnnsearchError("BLEU by length: there is no system to draw; give at least one")
    shared = next(iter(systems.values()))
    layout = [(b.low, b.high, b.sentences) for b in shared]
    for name, bins in systems.items():
        if [(b.low, b.high, b.sentences) for b in bins] != layout:
            raise RnnsearchError(
                f"BLEU by length: '{name}' has other bins than '{next(iter(systems))}'; "
                "score both on the same test set with the same edges"
            )
    figure = new_figure(5.4, 3.6)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    positions = range(len(layout))
    for (name, bins), colour, line, marker in zip(
        systems.items(), cycle(SERIES), cycle(_LINES), cycle(_MARKERS), strict=False
    ):
        scores = [math.nan if b.bleu is None else b.bleu for b in bins]
        axes.plot(positions, scores, color=colour, linestyle=line, marker=marker, markersize=5, label=printable(name))
    plain_axes(axes, "words in the source sentence (and sentences scored)", "BLEU")
    axes.set_xticks(positions, [f"{b.label}\n({b.sentences:,})" for b in shared])
    start_at_zero(axes)
    if title is not None:
        axes.set_title(printable(title), parse_math=False, fontfamily=font_families(), color=INK)
    if len(systems) > 1:
        add_legend(axes, above=True)
    if path is not None:
        save_figure(figure, path)
    return figure
