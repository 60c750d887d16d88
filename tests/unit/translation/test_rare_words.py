"""Rare words: from the list beside a model to the translation, alone and among other callers of a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnsearch
from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.continuous import ContinuousTranslator, SearchFailed
from rnnsearch.text.determiners import before_word
from rnnsearch.translation import Translator
from rnnsearch.translation.glossary import Match
from rnnsearch.translation.rare_words import RARE_WORDS, RareWords, better
from rnnsearch.translation.translation import Segment, Translation

LIST = (
    "boiler\tf\tchaudière\tchaudières\nbleach\tf\teau de Javel\tJavel\n"
    "car\tf\tbagnole\nboat\tf\tbarque\nroof\tm\tabat-jour\n"
)
LINES = ["I see the car.", "The boat is under the roof.", "I see the dog.", "CAR", "Where is Car?", "the car and the boat"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    translator = rnnsearch.load("en-fr")
    translator.__dict__["rare_words"] = RareWords(LIST)
    return translator


def missing(source: str, target: str, *given: Match) -> list[Match]:
    return RareWords(LIST).missing(source.split(), target.split(), given)


# The list ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("the boiler is broken", "le bouilleur est cassé", ["chaudière"]),
        ("the boiler is broken", "la chaudière est cassée", []),
        ("Boiler room", "Chaudières", []),  # another form
        ("Boiler room", "Chambre", ["chaudière"]),
        ("the Boiler room", "la chambre", []),  # a name
        ("no bleach", "pas d' eau", ["eau de Javel"]),
        ("no bleach", "pas de Javel", []),
        ("boiler out", "rien", []),  # a phrasal verb
        ("a roof", "un abat-jour", []),
        ("the house", "la chambre", []),
        ("bleach the boiler", "rien", ["eau de Javel", "chaudière"]),
    ],
)
def test_missing_rare_words(source: str, target: str, expected: list[str]) -> None:
    assert [" ".join(match.target) for match in missing(source, target)] == expected


def test_given_terms_take_precedence() -> None:
    assert missing("a boiler", "rien", Match(1, 2, ["poêle"])) == []


@given(
    st.dictionaries(st.text("abcé", min_size=1, max_size=4), st.lists(st.text("xyz", min_size=1), min_size=1, max_size=3))
)
def test_every_word_of_a_list_has_its_translations(entries: dict[str, list[str]]) -> None:
    rare_words = RareWords("".join("\t".join([word, "", *translations]) + "\n" for word, translations in entries.items()))
    for word, translations in entries.items():
        entry = rare_words.get(word)
        assert entry is not None
        assert list(entry.translations) == translations
    assert rare_words.get("d") is None


@pytest.mark.parametrize(
    "line",
    [
        "boiler",
        "boiler\tf",
        "boiler\tx\tchaudière",
        "\tf\tchaudière",
        "boiler\tf\t",
        "",
        "boiler\tf\teau  chaude",
        "boiler\tf\teau\r",
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / RARE_WORDS).write_text(f"a\t\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(RnnsearchError, match=rf"{RARE_WORDS}:2: .*; give a word"):
        RareWords.load(tmp_path)


def test_a_model_without_a_list(tmp_path: Path) -> None:
    assert RareWords.load(tmp_path) is None


# The words before them -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "following", "agreement", "expected"),
    [
        ("sous le", "chaudière", "f", "sous la"),
        ("Le", "chaudière", "f", "La"),
        ("près du", "chaudière", "f", "près de la"),
        ("de la", "tracteur", "m", "du"),
        ("à la", "volets", "p", "aux"),
        ("le", "embrayage", "m", "l'"),
        ("la", "embrayage", "m", "l'"),
        ("du", "embrayage", "m", "de l'"),
        ("de l'", "tracteur", "m", "du"),
        ("ce", "armoire", "f", "cette"),
        ("cette", "armoire", "m", "cet"),
        ("des", "hache", "f", "une"),
        ("un", "tuiles", "p", "des"),
        ("vieille", "tracteur", "m", "vieille"),
        ("le", "chaudière", "", "le"),
        ("de", "armoire", "f", "d'"),
        ("", "armoire", "f", ""),
    ],
)
def test_determiners_agree(before: str, following: str, agreement: str, expected: str) -> None:
    words = before.split()
    count, changed = before_word(words, following, agreement, "fr")  # type: ignore[arg-type]
    assert " ".join([*words[: len(words) - count], *changed]) == expected


def test_the_english_article() -> None:
    assert before_word(["a"], "axe", "", "en") == (1, ["an"])


# In translations -----------------------------------------------------------------------------------------------------


def test_a_rare_word_is_in_the_translation(translator: Translator) -> None:
    assert translator.translate("My car is red.").text == "Ma bagnole est rouge."
    assert translator.translate("The boat is small.").text.startswith("La barque est petit")
    assert "bateau" in translator.translate("The boat is small.", rare_words=False).text


def test_terms_of_the_user_are_the_only_ones_that_are_told(translator: Translator) -> None:
    translation = translator.translate("I see the boat and the dog.", terms={"dog": "toutou"})
    assert "barque" in translation.text
    assert [translation.tokens[term.target_start] for term in translation.terms] == ["toutou"]
    assert "yacht" in translator.translate("I see the boat.", terms={"boat": "yacht"}).text


def test_sentences_do_not_depend_on_each_other(translator: Translator) -> None:
    alone = [translator.n_best(line, 2) for line in LINES]
    together = translator.n_best(LINES, 2)
    assert [[one.text for one in n_best] for n_best in alone] == [[one.text for one in n_best] for n_best in together]


def test_a_server_translates_in_the_same_way(translator: Translator) -> None:
    engine = ContinuousTranslator(translator, batch_sentences=3)
    for caller in range(2):
        engine.add(caller, LINES, 1)
    engine.cancel(1)
    engine.add(2, LINES[:2], 1)
    found = {}
    while engine.busy:
        for one in engine.step():
            assert not isinstance(one.translations, SearchFailed)
            found[one.caller, one.place] = one.translations[0].text
    expected = [translator.translate(line, split_sentences=False).text for line in LINES]
    assert found == {
        (caller, place): expected[place] for caller, count in ((0, len(LINES)), (2, 2)) for place in range(count)
    }


@pytest.mark.parametrize(
    ("first", "second", "is_better"),
    [
        ("NO ENTRY", "PROHIBITED", False),
        ("the red lamp", "the lantern", False),
        ("a duck", "a duvet", True),
        ("I saw a big duck", "I saw a duvet", True),
        ("a duck .", "a duck . duvet .", False),
    ],
)
def test_a_label_does_not_lose_words(first: str, second: str, is_better: bool) -> None:
    before, after = ([Translation(text, 0.0, True, [Segment(0, [], 0, text.split(), None)])] for text in (first, second))
    assert better(before, after) is (after if is_better else before)
