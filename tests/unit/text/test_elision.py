"""Small words before words that a model does not see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.elision import before, between, of

FRENCH = [
    "le",
    "la",
    "de",
    "d'",
    "l'",
    "que",
    "qu'",
    "du",
    "au",
    "ce",
    "cet",
    "nouveau",
    "nouvel",
    "ma",
    "mon",
    "jusqu'",
    "et",
]


@pytest.mark.parametrize(
    ("word", "following", "language", "expected"),
    [
        ("Le", "IBAN", "fr", "L'"),
        ("de", "Anna", "fr", "d'"),
        ("que", "Emma Zorn", "fr", "qu'"),
        ("du", "iPhone 15", "fr", "de l'"),
        ("Au", "Étang", "fr", "À l'"),
        ("DE", "Œdipe", "fr", "D'"),
        ("nouveau", "iPhone", "fr", "nouvel"),
        ("ce", "A380", "fr", "cet"),
        ("ma", "Alfa", "fr", "mon"),
        ("de", "Yves", "fr", "d'"),
        ("d'", "Yoko", "fr", "de"),
        ("D'", "Siemens", "fr", "De"),
        ("Qu'", "Siemens", "fr", "Que"),
        ("d’", "{name}", "fr", "de"),
        ("cet", "Nokia", "fr", "ce"),
        ("l'", "NASA", "fr", "la"),
        ("l'", "FBI", "fr", "l'"),
        # What is not known does not change.
        ("l'", "Toyota", "fr", "l'"),
        ("de", "Hugo", "fr", "de"),
        ("d'", "Henri", "fr", "d'"),
        ("le", "onze", "fr", "le"),
        ("de", "https://example.org", "fr", "de"),
        ("de", "anna@example.org", "fr", "de"),
        ("de", "user_id", "fr", "de"),
        ("de", "8 h", "fr", "de"),
        ("d'", "1,5 million", "fr", "d'"),
        ("le", "A", "fr", "le"),
        ("maison", "Anna", "fr", "maison"),
        # English, and other languages
        ("a", "iPhone", "en", "an"),
        ("An", "Toyota", "en", "A"),
        ("an", "Uniqlo", "en", "a"),
        ("an", "FBI", "en", "an"),
        ("a", "IBAN", "en", "an"),
        ("a", "USB", "en", "a"),
        ("de", "Anna", "es", "de"),
    ],
)
def test_forms(word: str, following: str, language: str, expected: str) -> None:
    assert " ".join(before(word, following, language)) == expected


@given(st.sampled_from(FRENCH) | st.text(min_size=1, max_size=3), st.text(max_size=8), st.sampled_from(["fr", "en"]))
def test_the_right_form_stays(word: str, following: str, language: str) -> None:
    forms = before(word, following, language)
    assert forms
    assert all(forms)
    assert before(forms[-1], following, language) == forms[-1:]


@given(st.sampled_from(FRENCH), st.from_regex(r"[0-9@#{<%/][a-z]{0,5}", fullmatch=True))
def test_no_elision_before_what_is_no_word(word: str, following: str) -> None:
    assert not any(form.endswith("'") and form != word for form in before(word, following, "fr"))


@pytest.mark.parametrize(
    ("word", "added"),
    [
        ("sel", "de"),
        ("huile", "d'"),
        ("eau", "d'"),
        ("haricots", "de"),
        ("de", None),
        ("et", None),
        ("⟦1⟧", None),
        (",", None),
    ],
)
def test_amounts(word: str, added: str | None) -> None:
    assert of(word) == ([added] if added else [])


@pytest.mark.parametrize(
    ("word", "following", "expected"),
    [
        ("Me", "épouseras-tu", "M'"),
        ("du", "eau", "de l'"),
        ("ma", "amie", "mon"),
        ("je", "ai", "j'"),
        ("la", "une", "la"),
        ("le", "onze", "le"),
        ("de", "huile", "de"),
        ("le", "a", "le"),
        ("de", "Anna", "de"),
        ("ce", "est", "ce"),
        ("les", "amis", "les"),
    ],
)
def test_small_words_before_ordinary_words(word: str, following: str, expected: str) -> None:
    assert " ".join(between(word, following, "fr")) == expected
    assert between(word, following, "en") == [word]
