"""HTML pages from the templates beside this module: one self-contained file each, which opens from a disk.

The text of a page comes from corpora and models, so every value is escaped, and a page runs no script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rnnsearch.atomic import write_text
from rnnsearch.report.figures import printable
from rnnsearch.text.spans import pieces


def write_document(path: str | os.PathLike[str], template: str, **values: Any) -> None:
    """Render the template of this name with `values`, and write the page to `path`, whole or not at all."""
    write_text(path, _environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rnnsearch.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = _asset
    filters = {
        "csp_hash": _csp_hash,
        "duration": _duration,
        "number": _number,
        "paragraphs": _paragraphs,
        "pieces": pieces,
    }
    environment.filters.update(filters)
    return environment


def _finalize(value: Any) -> Any:
    """Text for the page: what no HTML file can hold is replaced; what is markup already stays as it is."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> Markup:
    """A style sheet or a script of the package, to be inlined as it is."""
    return Markup((files("rnnsearch.report") / "templates" / name).read_text(encoding="utf-8"))


def _csp_hash(script: str) -> str:
    """The source expression by which a Content-Security-Policy allows this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _paragraphs(text: str) -> list[str]:
    """Plain text as its paragraphs; a blank line separates two."""
    return [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]


def _number(value: float | None, spec: str) -> str:
    """The value in Python's format `spec`, or a dash where it is None."""
    return "–" if value is None else format(value, spec)


def _duration(hours: float) -> str:
    """Hours as a person says them: minutes below one hour."""
    if hours < 1:
        return f"{60 * hours:.1f} min"
    return f"{hours:.0f} h" if hours >= 10 else f"{hours:.1f} h"
