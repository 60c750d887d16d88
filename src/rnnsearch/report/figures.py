"""The functions that all figures share: for fonts, colours, files, and SVG in pages.

Figures are matplotlib `Figure` objects, each with its own canvas; pyplot, which keeps every figure open, is not used.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError
from rnnsearch.report.xml_text import printable

FORMATS = ("png", "pdf", "svg")

INK = "#010101"
"""The colour of text and lines. On a page it becomes `currentColor`, so that figures follow the light or dark scheme."""

SERIES = ("#3567a8", "#c2570c", "#3d8a5f", "#8b5fb0", "#b03a5b", "#77702b")
"""The colours of curves. On a page they become `var(--series-1)` and so on, with these values as fallbacks."""

DOTS_PER_INCH = 150

# DejaVu Sans comes with matplotlib and lacks Chinese, Japanese, Korean and Indic characters. For them, those of the
# following fonts that are installed are used.
_OTHER_SCRIPTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Nirmala UI",
    "WenQuanYi Zen Hei",
    "Unifont",
)


@cache
def font_families() -> tuple[str, ...]:
    """Return DejaVu Sans, followed by the installed fonts for the scripts that it lacks."""
    installed = set(font_manager.get_font_names())
    return ("DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in installed))


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with its own canvas."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    return figure


def plain_axes(axes: Axes, x_label: str, y_label: str) -> None:
    """Label the axes, and show only two spines and a faint grid."""
    style: dict[str, Any] = {"parse_math": False, "fontfamily": font_families(), "color": INK}
    axes.set_xlabel(x_label, **style)
    axes.set_ylabel(y_label, **style)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=INK, linewidth=0.8, alpha=0.5)
    axes.tick_params(color=INK, labelcolor=INK, length=0)
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.patch.set_visible(False)


def start_at_zero(axes: Axes) -> None:
    """Make the y axis begin at zero and end some way above the highest point."""
    axes.set_ylim(0, max(1.0, 1.1 * axes.dataLim.y1))


def add_legend(axes: Axes, above: bool = False) -> None:
    """Add a legend without a frame: above the axes with `above`, otherwise where it covers least of them."""
    style: dict[str, Any] = {"frameon": False, "labelcolor": INK, "handlelength": 2.4}
    location = {"loc": "outside upper center", "ncols": 3} if above else {}
    legend = (axes.figure if above else axes).legend(**location, **style)
    for text in legend.get_texts():
        text.set(parse_math=False, fontfamily=font_families())


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write the figure as PNG, PDF or SVG, according to the suffix of `path`; the same figure gives the same bytes.

    Raises RnnsearchError for any other suffix.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise RnnsearchError(f"{path}: figures cannot be written as '{path.suffix}'; use .png, .pdf or .svg")
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(_rendered(figure, kind))


def inline_svg(figure: Figure, description: str) -> Markup:
    """Return the figure as an `<svg>` element for a page, in which text stays text and colours follow the page.

    `description` is the text for screen readers.
    """
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        svg = _rendered(figure, "svg", transparent=True).decode("utf-8")
    svg = svg[svg.index("<svg ") :]
    # The styles and ids of an inline SVG apply to the whole page, where they would collide with those of other figures.
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*_\d+"', "<g", svg)
    svg = svg.replace(f": {INK}", ": currentColor")
    for number, colour in enumerate(SERIES, start=1):
        svg = svg.replace(f": {colour}", f": var(--series-{number}, {colour})")
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(printable(description))}" ', 1))


@contextmanager
def quiet_about_glyphs() -> Iterator[None]:
    """Return a context without matplotlib's warnings about characters that no font has, which are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+|Matplotlib currently does not support")
        yield


def _rendered(figure: Figure, kind: str, *, transparent: bool = False) -> bytes:
    """Return the bytes of the file, without dates, program versions or random ids."""
    metadata = {
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
        "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    }[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "rnnsearch"}), quiet_about_glyphs():
        figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=metadata, transparent=transparent)
    return buffer.getvalue()
