"""Symbols, quotation marks and final marks of a translation follow its source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.marks import around_emphasis, closed_up, directed, final_marks, is_symbol, without_strays
from rnnsearch.text.protected import find_protected, unknown_abbreviations


@given(st.text(), st.text())
def test_no_symbol_without_a_source(word: str, source: str) -> None:
    kept = without_strays(word, frozenset(source))
    assert all(letter in source for letter in kept if is_symbol(letter))
    assert [letter for letter in word if not is_symbol(letter)] == [letter for letter in kept if not is_symbol(letter)]


@pytest.mark.parametrize(
    ("words", "marks"),
    [("What ? !", "?!"), ("No way !!!", "!!!"), ("No .", ""), ("! a", ""), ("Well ...", ""), ("", "")],
)
def test_final_marks(words: str, marks: str) -> None:
    assert final_marks(words.split()) == marks


def test_spaces_of_marks() -> None:
    assert closed_up("Vraiment ? !") == "Vraiment ?!"
    assert around_emphasis("C'est * très * grand : 2 * 3") == "C'est *très* grand : 2 * 3"
    assert around_emphasis("** Important : ** lisez") == "**Important :** lisez"


@given(st.lists(st.sampled_from("«»a"), max_size=8))
def test_quotation_marks_are_in_pairs(words: list[str]) -> None:
    result = directed(words)
    marks = "".join(word for word in result if word != "a")
    if len(marks) % 2 == 0:
        assert all(marks[:end].count("«") >= marks[:end].count("»") for end in range(len(marks) + 1))
        assert marks.count("«") == marks.count("»")
    assert [word == "a" for word in words] == [word == "a" for word in result]


@pytest.mark.parametrize(
    "span",
    [
        "<%= name %>", "@{user}", "{count, plural, one {# message} other {# messages}}", "&amp;", "00:1A:2B:3C:4D:5E",
        "FR76 3000 6000 0112 3456 7890 189", "R&D", "Ctrl+C", "E=mc²", "10-15%", "¾", "CO₂", "©",
    ],
)  # fmt: skip
def test_further_spans(span: str) -> None:
    assert [one.text for one in find_protected(f"see {span} here", "en")] == [span]


def test_unknown_abbreviations() -> None:
    def spans(line: str) -> list[str]:
        return [line[start:stop] for start, stop in unknown_abbreviations(line, {"very", "NASA"}.__contains__)]

    assert spans("The IBAN is VERY long, NASA said") == ["IBAN"]
    assert spans("THE IBAN IS LONG") == spans("please READ THIS now") == []
