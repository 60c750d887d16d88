"""Elements that the translation has as they stand, words that span elements, and punctuation beside a tag."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_markup_words import one_to_one

from rnnsearch.translation.markup import Markup
from rnnsearch.translation.markup.copies import Words, copies

Links = Sequence[tuple[int, int]]


@pytest.mark.parametrize(
    ("document", "words", "links", "expected"),
    [
        # The links are wrong, but the words of the element are there.
        ("press <b>Ctrl+T</b> first", "d' abord tapez Ctrl+T", [(1, 1), (2, 0), (0, 3)], "d' abord tapez <b>Ctrl+T</b>"),
        ("a <b>free group</b> b", "A B free group", [(1, 0), (2, 1)], "A B <b>free group</b>"),
        ("the <code>sum</code> built-in", "la fonction sum native", [(0, 0), (1, 1), (2, 3)],
         "la fonction <code>sum</code> native"),
        # Copies of the same words are in the same order, and the longest elements come first.
        ("<b>X</b> or <i>X</i>", "soit X ou X", [(0, 3), (2, 1)], "soit <b>X</b> ou <i>X</i>"),
        ("<code>name</code> and <code>' name '</code>", "name et ' name '", [(2, 0)],
         "<code>name</code> et <code>' name '</code>"),
        ("numeric mode <b>mode</b>", "mode numérique mode", [(2, 0)], "mode numérique <b>mode</b>"),
        # A short word may be another one: only a link makes it a copy.
        ("click <b>on</b> it", "on clique dessus", [(0, 1), (1, 2)], "on clique <b>dessus</b>"),
        ("if <b>a</b> is", "si a est", [(0, 0), (1, 1), (1, 2)], "si <b>a</b> est"),
    ],
)  # fmt: skip
def test_an_element_that_is_copied(document: str, words: str, links: Links, expected: str) -> None:
    markup = Markup(document, "en", split=False)
    assert markup.joined([one_to_one(markup.sentences[0], words, *links)]) == expected


@pytest.mark.parametrize(
    ("document", "word", "expected"),
    [
        ("<b>Ctrl</b><i>B</i>", "CtrlB", "<b>Ctrl</b><i>B</i>"),
        ("<b>Ctrl</b>number", "Ctrlnombre", "<b>Ctrl</b>nombre"),
        ("number<b>4</b>", "nombre4", "nombre<b>4</b>"),
        ("<b>ab</b><i>cd</i>", "xyz", "<b>xyz</b><i></i>"),
        ("see <b>it</b>.", "voir x.", "voir <b>x</b>."),
    ],
)
def test_a_word_is_cut_where_its_source_is_in_other_elements(document: str, word: str, expected: str) -> None:
    markup = Markup(document, "en", split=False)
    count = len(markup.sentences[0].split())
    assert markup.joined([one_to_one(markup.sentences[0], word, *((n, n) for n in range(count)))]) == expected


def test_punctuation_is_not_in_an_element_of_words() -> None:
    markup = Markup("<b>Note</b> : read", "en", split=False)
    assert (
        markup.joined([one_to_one("Note : read", "Remarque : lisez", (0, 0), (0, 1), (2, 2))]) == "<b>Remarque</b> : lisez"
    )
    markup = Markup("<b>this ends .</b>", "en", split=False)
    assert markup.joined([one_to_one("this ends .", "ceci finit .", (2, 0), (1, 1), (1, 2))]) == "<b>ceci finit .</b>"


words = st.lists(st.sampled_from(["a", "name", "(", ")", "X"]), min_size=1, max_size=12)


@given(words, words, st.data())
def test_copies_are_the_same_words_and_each_word_is_copied_once(
    source: list[str], target: list[str], data: st.DataObject
) -> None:
    places = st.integers(0, len(source))
    spans = data.draw(st.lists(st.tuples(places, places).filter(lambda span: span[0] < span[1]), max_size=5))
    verbatim = data.draw(st.booleans())
    found = copies(source, target, frozenset(), [Words(first, stop, verbatim) for first, stop in spans])
    assert len(set(found.values())) == len(found)
    assert all(target[place] == source[origin] for place, origin in found.items())


def test_a_sentence_of_equal_words_takes_linear_time() -> None:
    source = ["a"] * 20_000
    assert copies(source, source, frozenset(), [Words(0, n, True) for n in range(1, 2000)]) == {}
