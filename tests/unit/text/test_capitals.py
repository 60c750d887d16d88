"""Words in capitals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.capitals import in_capitals, without_capitals, without_title_case

USUAL = [
    "the",
    "a",
    "I",
    "system",
    "will",
    "restart",
    "never",
    "Paris",
    "NASA",
    "to",
    "in",
    "said",
    "exit",
    "us",
    "US",
    "EU",
    "été",
]


def cost(word: str) -> int:
    return USUAL.index(word) if word in USUAL else 100 + len(word)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("WARNING : THE SYSTEM WILL RESTART !", "Warning : the system will restart !"),
        ("I WILL NEVER RESTART", "I will never restart"),
        ("NASA TO PARIS", "NASA to Paris"),
        ("EXIT", "Exit"),
        ("À L' ÉTÉ", "À l' été"),
        ("I NEVER said a", "I never said a"),
        ("NASA said", "NASA said"),
        ("I said", "I said"),
        ("the US said TO the EU", "the US said TO the EU"),
        ("said TO RESTART", "said to restart"),
        ("123 . ?", "123 . ?"),
        ("EU", "EU"),
    ],
)
def test_as_it_is_usually_written(line: str, expected: str) -> None:
    words, changed = without_capitals(line.split(), cost)
    assert " ".join(words) == expected
    assert any(changed) == (expected != line)


@given(st.lists(st.text(min_size=1), max_size=6))
def test_any_words(words: list[str]) -> None:
    """As many words; what is not in capitals stays; only the case of letters differs."""
    found, changed = without_capitals(words, cost)
    assert len(found) == len(changed) == len(words)
    for word, usual in zip(words, found, strict=True):
        if not in_capitals(word):
            assert usual == word
        assert usual.casefold() == word.casefold() or usual.upper() == word.upper() or usual.lower() == word.lower()


def test_a_sentence_without_capitals_is_itself() -> None:
    words = ["the", "system", "will", "restart"]
    assert without_capitals(words, cost) == (words, [False] * 4)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The System Will Restart In Paris", "The system will restart in Paris"),
        ("Tomek Said The System Will Restart", "Tomek said the system will restart"),
        ("The Exit of the System Said Pavlov", "The exit of the system said Pavlov"),
        ("Paris and Roma and Exit are the system", "Paris and Roma and Exit are the system"),
        ("The System Will Restart .", "The System Will Restart ."),
        ("The System", "The System"),
    ],
)
def test_headlines(line: str, expected: str) -> None:
    assert " ".join(without_title_case(line.split(), cost)) == expected
