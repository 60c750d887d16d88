"""HTML pages, rendered from the templates of this package; each is one self-contained file that opens without a server.

The text of a page comes from corpora and models, so every value is escaped, and a page can run only its own script.
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
from rnnsearch.report.xml_text import printable
from rnnsearch.text.spans import pieces


def write_document(path: str | os.PathLike[str], template: str, **values: Any) -> None:
    """Render the template with the name `template` and these values, and write the page to `path`, atomically."""
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
    """Replace characters that HTML does not allow in a text; markup and other values stay as they are."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> Markup:
    """Return a style sheet or a script of the package as markup, to be inlined without escaping."""
    return Markup((files("rnnsearch.report") / "templates" / name).read_text(encoding="utf-8"))


def _csp_hash(script: str) -> str:
    """Return the source expression with which a Content-Security-Policy allows this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _paragraphs(text: str) -> list[str]:
    """Split a text into its paragraphs, which are separated by blank lines."""
    return [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]


def _number(value: float | None, spec: str) -> str:
    """Format a value with Python's format specification `spec`; None becomes a dash."""
    return "–" if value is None else format(value, spec)


def _duration(hours: float) -> str:
    """Format a duration for people: in minutes below one hour, otherwise in hours."""
    if hours < 1:
        return f"{60 * hours:.1f} min"
    return f"{hours:.0f} h" if hours >= 10 else f"{hours:.1f} h"
