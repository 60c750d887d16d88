"""The text of the bundled translators' last training: single words, quotations, and how many pairs of each kind."""

from __future__ import annotations

import random

import pytest

from box.phrases import entries
from box.text import (
    HASTY_FRENCH,
    LONGEST,
    MEANINGS,
    OFTEN,
    drawn,
    everyday,
    from_english,
    from_french,
    letters,
    plain,
    quoted,
    rows,
    split,
    with_new_words,
    with_rare_words,
    words,
)

SENTENCES = [("He is late.", "Il est en retard."), ("Where is it?", "Où est-ce ?"), ("Stop!", "Arrêtez !")]


def test_a_word_is_read_with_a_capital_and_as_a_sentence() -> None:
    assert list(words([("dog", "chien")])) == [("Dog", "Chien"), ("Dog.", "Chien.")]


@pytest.mark.parametrize(
    "pair", [("Paris", "Paris"), ("Stop!", "arrêtez !"), ("as soon as you can", "aussi vite que tu peux")]
)
def test_names_sentences_and_long_phrases_stay_as_they_are(pair: tuple[str, str]) -> None:
    assert list(words([pair])) == []


def test_quotations_have_the_marks_of_their_language_once() -> None:
    made = list(quoted(SENTENCES * 20, random.Random(1)))
    assert len(made) == 60
    for english, french in made:
        assert (english.count('"'), french.count("« "), french.count(" »")) == (2, 1, 1)
        assert "».." not in french
        assert '"".' not in english
    assert ('"He is late," he said.', "« Il est en retard », dit-il.") in made
    assert ('"Where is it?" she asked.', "« Où est-ce ? » demanda-t-elle.") in made


def test_what_is_in_quotation_marks_is_not_quoted_again() -> None:
    assert list(quoted([('He said "no".', "Il a dit « non »."), ("Well", "Bien")], random.Random(1))) == []


def test_plain_text_has_the_letters_without_accents() -> None:
    assert plain("Où est l'élève ? Ça, c'est mon cœur !") == "Ou est l'eleve ? Ca, c'est mon coeur !"


def test_sentences_with_rare_words() -> None:
    common = [("The dog runs.", "Le chien court.")] * 50
    rare = [
        ("The hare runs.", "Le lièvre court."),
        ("A hare sleeps.", "Un lièvre dort."),
        ("The dog runs.", "Le chien galope."),
    ]
    once = [("The Zorg runs.", "Le chien court."), ("The xylem runs.", "Le chien court.")]
    assert list(with_rare_words([*common, *rare, *once])) == rare[:2]


def test_sentences_with_words_that_are_new() -> None:
    known = [("The dog runs.", "Le chien court.")] * OFTEN
    directive = [("The directive.", "La directive.")] * 2 * OFTEN
    long = ("The quorum " + "of it " * LONGEST, "Le quorum")
    assert list(with_new_words([*known, long, *directive], known)) == directive[:OFTEN]


def test_words_are_never_held_out() -> None:
    sentences = [(f"Word{number}.", "Mot.") for number in range(300)] + [
        (f"Two {number}.", "Deux.") for number in range(300)
    ]
    sets = split(sentences)
    assert all(english.startswith("Two ") for name in ("dev", "test") for english, _ in sets[name])
    assert sets["dev"]
    assert sets["test"]


def test_as_many_pairs_are_drawn_as_are_asked_for_and_none_that_is_held_out() -> None:
    pairs = [(f"sentence number {number}", str(number)) for number in range(400)]
    held_out = {letters(f"Sentence number {number}.") for number in range(0, 400, 50)}
    few, many = (drawn(pairs, count, held_out, random.Random(1)) for count in (10, 1000))
    assert (len(few), len(set(few)), len(many)) == (10, 10, 1000)
    assert set(many) == {pair for pair in pairs if int(pair[1]) % 50}


def test_words_of_the_lexicon_come_with_their_articles() -> None:
    found = list(entries())
    assert {("dog", "chien"), ("the dog", "le chien"), ("apple", "pomme"), ("the apple", "la pomme")} <= set(found)
    assert ("the Paris", "le Paris") not in found


@pytest.mark.parametrize(
    ("pair", "read"),
    [
        (("to eat", "manger"), ("eat", "manger")),
        (("to wake up", "se réveiller"), ("wake up", "se réveiller")),
        (("to save a file", "enregistrer un fichier"), ("save a file", "enregistrer un fichier")),
        (("to some extent", "dans une certaine mesure"), ("to some extent", "dans une certaine mesure")),
        (("pound", "livre"), ("book", "livre")),
        (("Pound", "Livre"), ("Book", "Livre")),
        (("SUBMIT", "ENVOYER"), ("SEND", "ENVOYER")),
        (("Rose", "Rose"), ("Rose", "Rose")),
        (("You too.", "Toi aussi."), ("You too.", "Toi aussi.")),
    ],
)
def test_an_infinitive_is_a_button_and_a_french_word_has_one_meaning(pair: tuple[str, str], read: tuple[str, str]) -> None:
    assert list(from_french([pair]))[-1] == read


@pytest.mark.parametrize("english", ["teh book", "see u tomorrow", "I recieved it", "thx"])
def test_english_with_a_slip_is_not_read_from_french(english: str) -> None:
    assert list(from_french([(english, "peu importe")])) == list(from_french([]))


def test_french_typed_in_haste_is_read_from_french_alone() -> None:
    hasty = everyday(*HASTY_FRENCH)
    assert list(from_english([*hasty, ("dog", "chien")])) == [("dog", "chien")]
    assert set(hasty) & set(from_french(hasty))


def test_each_french_word_has_one_meaning() -> None:
    french = [french.casefold() for _, french in rows(MEANINGS)]
    assert len(french) == len(set(french))
    assert not any(english.startswith("to ") for english, _ in rows(MEANINGS))
