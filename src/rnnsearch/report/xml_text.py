"""The replacement of characters that pages and figures cannot contain."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return `text` on one line, with � in place of characters that XML forbids: control codes and lone surrogates."""
    return "".join(" " if c.isspace() else "�" if _unprintable(c) else c for c in text)


def _unprintable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or ord(character) & 0xFFFE == 0xFFFE
