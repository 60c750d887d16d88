"""Where words stand in a line."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.spans import pieces, spans
from rnnsearch.text.tokenize import Tokenizer, is_invisible


def test_words_in_the_text_that_was_written_from_them() -> None:
    text = "« L’homme », dit-elle, 😀 n’est plus là."
    words = ["«", "L’", "homme", "»", ",", "dit-elle", ",", "😀", "n’", "est", "plus", "là", "."]
    found = spans(words, text)
    assert found is not None
    assert [text[start:end] for start, end in found] == words
    assert "".join(space + word for space, word in pieces(words, text)) == text


def test_a_turned_quotation_mark_and_a_capital_stand_where_they_are() -> None:
    assert pieces(['"', "salut", '"'], " „Salut“ ") == [("", "„"), ("", "Salut"), ("", "“")]


def test_words_that_do_not_stand_in_the_text_have_no_place() -> None:
    assert spans(["one", "two"], "one three") is None
    assert spans(["one"], "one two") is None
    assert spans(["one", "two"], "one") is None
    assert spans([""], "a") is None
    assert pieces(["one", "two"], "one three") == [("", "one"), (" ", "two")]
    assert spans([], "  ") == []


@given(st.text(max_size=60), st.sampled_from(["en", "fr"]))
def test_every_word_that_a_line_is_cut_into_has_its_place(line: str, language: str) -> None:
    words = Tokenizer("moses", language).tokenize(line)
    found = spans(words, line)
    assert found is not None
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    visible = [sum(not (c.isspace() or is_invisible(c)) for c in line[start:end]) for start, end in found]
    assert visible == [len(word) for word in words]
