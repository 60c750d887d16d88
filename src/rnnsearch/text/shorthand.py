"""Shorthand that people type in place of words, which a model has hardly seen: *w/o*, *@*, and *No.* before a number."""

from __future__ import annotations

from rnnsearch.text.expressions import Expression

_RULES = {
    "en": (
        ("/", Expression(r"(?<![\w/])w/o(?![\w/])"), "without"),
        ("/", Expression(r"(?<![\w/])w/ ?(?=[\p{L}\d])"), "with "),
        ("@", Expression(r"(?<=\s)@(?=\s)"), "at"),
        ("No.", Expression(r"^No\. ?(?=\d)"), "Number "),
        ("No.", Expression(r"(?<!\w)No\. ?(?=\d)"), "number "),
    ),
    "fr": (("@", Expression(r"(?<=\s)@(?=\s)"), "à"),),
}
"""For a language, the rules: a string that their matches contain, the pattern, and the words."""


def spelled_out(line: str, language: str) -> str:
    """Return a line of this language with words in place of shorthand."""
    for letters, pattern, words in _RULES.get(language, ()):
        if letters in line:
            line = pattern.sub(words, line)
    return line
