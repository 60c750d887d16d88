"""Renders the pages of `docs/reference` that show what was recorded, and the cards of the installed translators.

The text of a page is its template beside this script, `PAGE.md.j2`; its figures come from `benchmarks/results`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.lib.command import Parser
from benchmarks.lib.record import BACKGROUND, read, read_all
from benchmarks.pages import figures
from benchmarks.peers.toolkits import TOOLKITS
from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset
from rnnsearch.experiments import paper
from rnnsearch.experiments.recipe import recipe
from rnnsearch.model_catalog import default_model

TEMPLATES = Path(__file__).parent
REFERENCE = TEMPLATES.parents[1] / "docs" / "reference"
CARDS = {f"card of {pair}": pair for pair in ("en-fr", "fr-en")}
PARTS = ("examples", "model-card")
"""Templates that are no pages by themselves."""
PAGES = sorted({path.name.removesuffix(".md.j2") for path in TEMPLATES.glob("*.md.j2")} - set(PARTS))


def main() -> None:
    """Write the pages, the cards and the figures."""
    parser = Parser(__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", default=[*PAGES, *CARDS], help="not all of them")
    for page in parser.parse_args().pages:
        if page == "newstest2014":
            figures.draw_curves(read_all("quality/newstest-*"))
        write_text(path_of(page), render(page))
        print(f"wrote {path_of(page)}")


def path_of(page: str) -> Path:
    """The file that a page is written to."""
    return default_model(CARDS[page]) / "README.md" if page in CARDS else REFERENCE / f"{page}.md"


def render(page: str) -> str:
    """The text of a page."""
    if page in CARDS:
        return _environment().get_template("model-card.md.j2").render(pair=CARDS[page])
    return _environment().get_template(f"{page}.md.j2").render()


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"f": format, "each": _each, "median": statistics.median, "millions": _millions}
    environment.globals |= {
        "record": read,
        "records": read_all,
        "preset": from_preset,
        "recipe": recipe,
        "background": BACKGROUND,
        "peers": {name: f"{toolkit.package} {toolkit.version}" for name, toolkit in TOOLKITS.items()},
        "paper": paper.ROWS,
        "zip": zip,
        **{function.__name__: function for function in figures.FUNCTIONS},
    }
    return environment


def _each(values: Iterable[Any], form: str) -> list[str]:
    """Each value in the same form, as in `each("`{}`")`."""
    return [form.format(value) for value in values]


def _millions(number: float) -> str:
    return f"{number / 1e6:.1f} M"
