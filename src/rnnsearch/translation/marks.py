"""The recognition of marks, pairs of tags and variants in plain text, which `rnnsearch.translation.markup` translates."""

from __future__ import annotations

from rnnsearch.text.expressions import Expression
from rnnsearch.translation.sentences import has_words

_SIGNS = frozenset("*_~[<")
"""Every marked part of a text contains one of these characters."""
# At most 500 characters may stand between two marks, so that the time is linear in the length of the text.
_MARKS = Expression(
    r"(?<![\w*_~\\])(?P<mark>\*{1,3}|_|~~)(?=[^\s*_~])[^\n]{0,500}?[^\s*_~\\](?P=mark)(?![\w*_~])"
    r"|!?\[[^\[\]\n]{1,500}\]\([^()\s]{1,500}\)"
    r"|<(?P<tag>[A-Za-z][\w:-]{0,30})(?:\s[^<>\n]{0,500})?>[^\n]{0,500}?</(?P=tag)>"
)

VARIANTS = Expression(r"\{\s*(?P<name>\w+)\s*,\s*(?P<kind>plural|select)\s*,\s*(?=[=\w]+\s*\{)")
"""The beginning of an argument with variants in a message of ICU."""


def has_marks(line: str) -> bool:
    """Return whether a line of plain text has words between marks or tags, or variants."""
    if has_variants(line):
        return True
    return not _SIGNS.isdisjoint(line) and any(has_words(match[0]) for match in _MARKS.finditer(line))


def has_variants(line: str) -> bool:
    """Return whether a line is a message of ICU with variants, such as `{count, plural, one {# file} other {# files}}`."""
    return "{" in line and "," in line and VARIANTS.search(line) is not None
