"""The numbers of a text, in figures and in words, and those that a translation lacks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnnsearch.text.numbers import missing_numbers, numbers_in

LANGUAGES = ("en", "fr")


def values(text: str, language: str) -> list[str]:
    return [min(number.readings, key=len) for number in numbers_in(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("twenty-four pupils, and two hundred and five more", "en", ["24", "205"]),
        ("three hundred and twenty-five, one hundred twenty", "en", ["325", "120"]),
        ("cent vingt, trois cent vingt-cinq, deux cent quatre-vingts", "fr", ["120", "325", "280"]),
        ("nineteen eighty-four; three thousand two hundred", "en", ["19", "84", "3200"]),
        ("two and three", "en", ["2", "3"]),
        ("vingt-quatre élèves et quatre-vingt-dix-sept chats", "fr", ["24", "97"]),
        ("soixante et onze, vingt et un, soixante-dix-sept", "fr", ["71", "21", "77"]),
        ("mille neuf cent quatre-vingt-quatre", "fr", ["1984"]),
        ("deux cent mille trois cents et quatre", "fr", ["200300", "4"]),
        ("1 250,50 €, 25.99 and 007", "en", ["1250.5", "25.99", "7"]),
        ("12/05/2024", "en", ["12", "5", "2024"]),
        ("no number, nonetheless; often", "en", []),
    ],
)
def test_numbers(text: str, language: str, expected: list[str]) -> None:
    assert values(text, language) == expected


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("It costs $1,250.50.", "Ça coûte 1 250,50 $.", "en fr"),
        ("It costs $1,250.", "Ça coûte 1.250 dollars.", "en fr"),
        ("Le prix est de 25,99 €.", "The price is €25.99.", "fr en"),
        ("We meet at 3:30 p.m.", "On se voit à 15 h 30.", "en fr"),
        ("The bus leaves at 9:00.", "Le bus part à neuf heures.", "en fr"),
        ("Le train part à 17 h 45.", "The train leaves at 5.45.", "fr en"),
        ("I have 3 cats and 1 dog.", "J'ai trois chats et un chien.", "en fr"),
        ("in the 21st century, on 12/05/2024", "au XXIe siècle, le 5 décembre 2024", "en fr"),
        ("vingt-quatre élèves", "24 pupils", "fr en"),
        ("tous les deux, à midi", "both, at 12", "fr en"),
        ("Why are you two here?", "Pourquoi êtes-vous là ?", "en fr"),
        ("un vélo neuf à cent pour cent", "an entirely new bicycle", "fr en"),
        ("I have 3 cats.", "Ich habe drei Katzen.", "en de"),
    ],
)
def test_nothing_is_missing(source: str, target: str, languages: str) -> None:
    assert missing_numbers(source, target, *languages.split()) == []


@pytest.mark.parametrize(
    ("source", "target", "languages", "missing"),
    [
        ("The price is €1,250.", "Le prix est ° 1.00050.", "en fr", ["1,250"]),
        ("vingt-quatre élèves et 3 chats", "twenty pupils", "fr en", ["3", "vingt-quatre"]),
        ("5 and 5", "5", "en fr", ["5"]),
        ("It is 3.5 long.", "Il fait 35.", "en fr", ["3.5"]),
        ("I have 40 cats.", "Ich habe drei Katzen.", "en de", ["40"]),
    ],
)
def test_what_is_missing_is_told_as_it_is_written(source: str, target: str, languages: str, missing: list[str]) -> None:
    assert missing_numbers(source, target, *languages.split()) == missing


@given(st.lists(st.integers(2, 99_999) | st.decimals(2, 9999, places=2), min_size=1, max_size=4))
def test_a_number_is_itself_in_either_notation(numbers: list[object]) -> None:
    english = " x ".join(f"{number:,}" for number in numbers)
    french = " x ".join(f"{number:,}".replace(",", "\u202f").replace(".", ",") for number in reversed(numbers))
    assert missing_numbers(english, french, *LANGUAGES) == []
    assert missing_numbers(french, english, *reversed(LANGUAGES)) == []
    less = french.rpartition(" x ")[0]
    assert len(missing_numbers(english, less, *LANGUAGES)) == 1


@example("0.000'000", "en")
@given(st.text(st.sampled_from("0123456789.,:h pmXVI-'€%/aneuf"), max_size=40), st.sampled_from(LANGUAGES))
def test_a_text_has_its_own_numbers(text: str, language: str) -> None:
    assert missing_numbers(text, text, language, language) == []
