"""What the HTML pages share: one file, complete in itself, that works from a disk and lets no script run but its own.

All text in a page comes from corpora and models, so all of it is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from html import escape

from rnnsearch.atomic import write_text
from rnnsearch.report.figures import printable


def write_document(
    path: str | os.PathLike[str], *, title: str, parts: Sequence[str], style: str, script: str = ""
) -> None:
    """Write a page of these parts to `path`, whole or not at all; empty parts are left out."""
    scripts = "'none'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        scripts = f"'sha256-{digest}'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {scripts}"
    write_text(
        path,
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + (f"\n<script>{script}</script>" if script else "")
        + "\n</body>\n</html>\n",
    )


def text(words: str) -> str:
    """Text for the page, in an element or in an attribute."""
    return escape(printable(words))


def paragraphs(words: str) -> str:
    """Plain text as paragraphs; a blank line is between two."""
    return "".join(f"<p>{text(paragraph)}</p>" for paragraph in words.split("\n\n") if paragraph.strip())


def row(name: str, content: str, kind: str = "plain") -> str:
    """A term of a list and what is said of it; `content` is HTML."""
    return f'<dt>{name}</dt><dd class="{kind}" dir="auto">{content}</dd>'


def in_place(words: Sequence[str], line: str) -> list[tuple[str, str]]:
    """The words as they stand in the detokenised line, each with the space before it.

    Where they do not stand there one after the other (an unknown word was replaced, a quote was turned), they
    are set apart by spaces.
    """
    found: list[tuple[str, str]] = []
    rest = line.strip()
    for word in words:
        gap = " " if rest != rest.lstrip() else ""
        rest = rest.lstrip()
        if rest[: len(word)].lower() != word.lower():
            break
        found.append((gap, rest[: len(word)]))
        rest = rest[len(word) :]
    if rest or len(found) < len(words):
        return [(" " if i else "", word) for i, word in enumerate(words)]
    return found
