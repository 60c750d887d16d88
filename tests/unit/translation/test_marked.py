"""Plain text with marks of Markdown and pairs of tags, as people type it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnsearch
from rnnsearch.translation import Translator
from rnnsearch.translation.marks import has_marks
from rnnsearch.translation.markup import MarkedText, read_text

WORDS = st.sampled_from(["the", "house", "window", "I", "love", "you", "red"])
PAIRS = [("**", "**"), ("*", "*"), ("_", "_"), ("~~", "~~"), ("<b>", "</b>"), ("[", "](https://x.org/a)")]
PLAIN = [
    "2 * 3 * 4 = 24",
    "a*b*c",
    "f*** you, s***",
    "Open my_file_name and __init__.",
    "Free* shipping (*in France)",
    "Hello <name>, <3 and :*",
    "A > B",
    "[1] and (2)",
    "* one",
    "_____",
]


@cache
def translator() -> Translator:
    return rnnsearch.load("en-fr")


@pytest.mark.parametrize("line", PLAIN)
def test_signs_that_are_no_marks(line: str) -> None:
    assert not has_marks(line)


def test_sentences_have_no_marks() -> None:
    text = "# **Stop!** Do *not* go.\n\n- See [this page](https://x.org). <b>Now</b>\n"
    read = read_text(text, "en")
    assert isinstance(read, MarkedText)
    assert [one for one in read.sentences if len(one) > 1] == ["Stop!", "Do not go.", "See this page.", "Now"]


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("This is *very* important.", "*très*"),
        ("<b>Hello</b>", "<b>Bonjour</b>"),
        ("See [the documentation](https://x.org/a).", "[la documentation](https://x.org/a)"),
        ("- Please read __init__ in the **big** book.", "**grand**"),
    ],
)
def test_marks_are_around_their_words(line: str, marked: str) -> None:
    """Without its marks, the translation is that of the line without them."""
    text, marks = translator().translate(line).text, re.compile(r"\*+|</?b>|\[|\]\(.*?\)")
    assert marked in text
    start, rest = (line[:2], line[2:]) if line.startswith("- ") else ("", line)
    assert marks.sub("", text) == start + translator().translate(marks.sub("", rest)).text


@given(st.lists(st.tuples(WORDS, st.sampled_from([None, *PAIRS])), min_size=1, max_size=8))
def test_each_mark_is_kept(words: list[tuple[str, tuple[str, str] | None]]) -> None:
    """Untranslated sentences give the line; in a translation, every mark is there as often as in the line."""
    line = " ".join(word if pair is None else f"{pair[0]}{word}{pair[1]}" for word, pair in words)
    read = read_text(line, "en")
    copies = translator().translate([*read.sentences], beam=1)
    text = translator().translate(line, beam=1).text
    assert read.joined(copies) == text
    opened = Counter(mark for _, pair in words if pair for mark in pair)
    for mark in ("<b>", "</b>", "](https://x.org/a)", "~~"):
        assert text.count(mark) == opened[mark], text
