"""Fixed translations of whole sentences: from the list beside a model to the translation, also on a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnsearch
from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.continuous import ContinuousTranslator, SearchFailed
from rnnsearch.translation import Translator
from rnnsearch.translation.phrases import PHRASES, Phrases, key_of, without_marks
from rnnsearch.translation.rare_words import RareWords

LIST = (
    "i see the dog\tVoilà le chien\nis that so ?\tTiens donc\nis that so\tC'est comme ça\n"
    "well done\tBravo\nregards ,\tCordialement\nkick the bucket\tcasser sa pipe\nit is x\tC'est un x\n"
)


@pytest.fixture(scope="module")
def translator() -> Translator:
    translator = rnnsearch.load("en-fr")
    translator.__dict__["phrases"] = Phrases(LIST)
    return translator


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("I see the dog.", "Voilà le chien."),
        ("i see the dog", "voilà le chien"),
        ("I SEE THE DOG!", "VOILÀ LE CHIEN !"),
        ("Is that so?", "Tiens donc ?"),
        ("Is that so.", "C'est comme ça."),
        ("Kick the bucket", "Casser sa pipe"),
        ("Well done!", "Bravo !"),
        ("Well done", "Bravo"),
        ("Regards,", "Cordialement,"),
        ("I see the dog. Is that so?", "Voilà le chien. Tiens donc ?"),
        ("<b>I see the dog.</b>", "<b>Voilà le chien.</b>"),
    ],
)
def test_the_translation_of_the_list(translator: Translator, line: str, expected: str) -> None:
    assert translator.translate(line).text == expected


def test_rare_words_do_not_change_a_phrase(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(translator.__dict__, "rare_words", RareWords("dog\tm\ttoutou\n"))
    monkeypatch.setitem(translator.__dict__, "phrases", Phrases("where is the dog ?\tOù est le chien\n"))
    assert "toutou" in translator.translate("Where is the dog?", phrases=False).text
    assert translator.translate("Where is the dog?").text == "Où est le chien ?"


def test_every_word_is_aligned(translator: Translator) -> None:
    found = translator.translate("I see the dog.")
    assert found.finished
    assert found.alignment is not None
    assert found.alignment.shape[0] == len(found.tokens) == 4


def test_further_translations_are_those_of_the_model(translator: Translator) -> None:
    texts = [one.text for one in translator.n_best("I see the dog.", 3)]
    free = [one.text for one in translator.n_best("I see the dog.", 3, phrases=False)]
    assert texts == ["Voilà le chien.", *free[:2]]


@pytest.mark.parametrize("line", ["I see the dogs.", "I see the dog and", "It is 5.", "It is x@y.org"])
def test_other_sentences_are_the_models(translator: Translator, line: str) -> None:
    assert translator.translate(line).text == translator.translate(line, phrases=False).text


def test_a_prefix_and_terms_come_first(translator: Translator) -> None:
    assert translator.translate("I see the dog.", prefix="Je").text.startswith("Je ")
    assert "toutou" in translator.translate("I see the dog.", terms={"dog": "toutou"}).text


def test_a_server_writes_the_same(translator: Translator) -> None:
    lines = ["I see the dog.", "I see the cat.", "Is that so?"]
    engine = ContinuousTranslator(translator, batch_sentences=3)
    engine.add(0, lines, 2)
    found = {}
    while engine.busy:
        for result in engine.step():
            assert not isinstance(result.translations, SearchFailed)
            found[result.place] = [one.text for one in result.translations]
    assert [found[place] for place in range(3)] == [[one.text for one in translator.n_best(line, 2)] for line in lines]


@given(st.dictionaries(st.text("abcé ", min_size=1).filter(key_of), st.text("xyz", min_size=1)))
def test_every_sentence_of_a_list_has_its_translation(entries: dict[str, str]) -> None:
    entries = {key_of(sentence): translation for sentence, translation in entries.items()}
    phrases = Phrases("".join(f"{key}\t{translation}\n" for key, translation in entries.items()))
    for key, translation in entries.items():
        assert phrases.get(key.split()) == translation
    assert phrases.get(["d"]) is None


def test_keys() -> None:
    assert key_of("  Don’t  worry, be happy! ") == key_of("don 't worry be happy") == "don t worry be happy"
    assert key_of("Really?") == "really ?"
    assert key_of("Dear Anna, ") == "dear anna ,"
    assert key_of("C'est « ça » ?") == "c est ça ?"
    assert key_of("a {b} c") == key_of("5 €") == key_of("😊") == key_of("a_b") == key_of("...") == ""
    assert without_marks("Vraiment ?!") == "Vraiment"


@pytest.mark.parametrize("line", ["a", "A\tb", "a b", "a\tb\tc", "", "a\t", "\tb", "a  b\tc", "a?\tb", "a\tb "])
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / PHRASES).write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(RnnsearchError, match=rf"{PHRASES}:2: .*; give the words"):
        Phrases.load(tmp_path)


def test_a_model_without_a_list(tmp_path: Path) -> None:
    assert Phrases.load(tmp_path) is None
