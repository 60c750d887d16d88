"""Training curves: negative log-likelihood (NLL) and BLEU against the number of updates.

A row is one validation of the training log. It has `update`, and any of `train_nll`, `valid_nll` (both in nats per word) and
`valid_bleu`, for example `{"update": 500, "train_nll": 3.2, "valid_nll": 2.9, "valid_bleu": 12.3}`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnnsearch.errors import RnnsearchError
from rnnsearch.report.figures import SERIES, add_legend, new_figure, plain_axes, start_at_zero

Rows = Sequence[Mapping[str, float | None]]

_WIDTH, _HEIGHT = 4.3, 3.1


def plot_nll(rows: Rows) -> Figure:
    """Draw the NLL per word on the training text and on the development set. Raises RnnsearchError without rows."""
    figure, axes = _panel(rows)
    _draw_nll(axes, rows)
    return figure


def plot_valid_bleu(rows: Rows) -> Figure:
    """Draw BLEU on the development set."""
    figure, axes = _panel(rows)
    _draw_bleu(axes, rows)
    return figure


def _panel(rows: Rows) -> tuple[Figure, Axes]:
    """Return a new figure and its only panel. Raises RnnsearchError if there are no rows to draw."""
    if not rows:
        raise RnnsearchError(
            "training curves: there is no validation to draw; train for at least `training.validate_every` updates"
        )
    figure = new_figure(_WIDTH, _HEIGHT)
    figure.set_layout_engine("constrained")
    return figure, figure.add_subplot()


def _draw_nll(axes: Axes, rows: Rows) -> None:
    _draw(axes, rows, "train_nll", "training", SERIES[0], "--")
    _draw(axes, rows, "valid_nll", "development", SERIES[1], "-")
    _finish(axes, "NLL per word")
    if axes.lines:
        add_legend(axes)


def _draw_bleu(axes: Axes, rows: Rows) -> None:
    _draw(axes, rows, "valid_bleu", "development", SERIES[1], "-")
    _finish(axes, "development BLEU")
    start_at_zero(axes)


def _draw(axes: Axes, rows: Rows, key: str, label: str, colour: str, line: str) -> None:
    """Draw the values of `key` against the updates, unless no row has a finite value."""
    points = [(row["update"], value) for row in rows if (value := row.get(key)) is not None]
    if any(math.isfinite(value) for _, value in points):
        updates, values = zip(*points, strict=True)
        axes.plot(updates, values, color=colour, linestyle=line, marker="o", markersize=3, label=label)


def _finish(axes: Axes, y_label: str) -> None:
    plain_axes(axes, "updates", y_label)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis="x", nbins=5, integer=True)
