"""The lists of rare words: which words are rare, which translations they get, and how determiners agree with these."""

from __future__ import annotations

from rare_words import MOST, agreements, entries_of, linked, words_of_signs

SOURCES = [["The", "boiler", "of", "Anna"], ["Boiler", "room"], ["a", "wink"]]
TARGETS = [["La", "chaudière", "d'", "Anna"], ["Salle", "des", "chaudières"], ["un", "clin", "d'", "œil"]]
LINKS = [{(0, 0), (1, 1), (2, 2), (3, 3)}, {(0, 2), (1, 0)}, {(0, 0), (1, 1), (1, 2), (1, 3)}]


def test_linked_words() -> None:
    found = list(linked(SOURCES, TARGETS, map(frozenset, LINKS)))
    assert found == [
        ("the", "la"), ("boiler", "chaudière"), ("boiler", "chaudières"), ("room", "Salle"), ("wink", ""),
    ]  # fmt: skip


def test_a_word_that_shares_its_translation_has_none() -> None:
    assert list(linked([["old", "boilers"]], [["chaudières"]], [frozenset({(0, 0), (1, 0)})])) == [
        ("old", ""),
        ("boilers", ""),
    ]
    parts = list(linked([["weak", "boiler"]], [["chaudière", "x", "faible"]], [frozenset({(0, 0), (0, 2)})]))
    assert parts == [("weak", ""), ("boiler", "")]


def test_agreement_is_that_of_most_determiners() -> None:
    sentences = [["la", "chaudière"], ["Une", "chaudière"], ["le", "chaudière"], ["les", "chaudières"], ["du", "lait"]]
    assert agreements(sentences) == {"chaudière": "f", "chaudières": "p", "lait": "m"}


def test_the_lines_of_a_list() -> None:
    found = [("boiler", "chaudière")] * 3 + [("boiler", "chauffe-eau")] + [("boiler", "")]
    assert list(entries_of(found, {"chaudière": "f"})) == ["boiler\tf\tchaudière\tchauffe-eau"]


def test_what_is_in_no_list() -> None:
    assert list(entries_of([("cat", "chat")] * (MOST + 1), {})) == []  # frequent
    assert list(entries_of([("cat", "chat")], {})) == []  # seen once
    assert list(entries_of([("menu", "menu")] * 5, {})) == []  # the same word
    plural = [("ages", "lustres")] * 5
    assert list(entries_of([*plural, *[("age", "âge")] * (MOST + 1)], {})) == []  # the plural of a frequent word
    assert list(entries_of(plural, {})) == ["ages\t\tlustres"]
    assert list(entries_of(plural, {}, {"ages"})) == []  # a word of signs
    assert {"interdite", "prohibited"} & words_of_signs()
    assert list(entries_of([("eye", "œil")] * 50 + [("wink", "œil")] * 3, {})) == ["eye\t\tœil"]  # a part of its translation
    scattered = [("get", f"verbe{chr(97 + number // 2)}") for number in range(26)]
    assert list(entries_of(scattered, {})) == []
