"""Phrases made from templates are whole sentences of both languages, with the same values on both sides."""

from __future__ import annotations

import random
import re

import pytest

from box.phrases import Entry, fill, lexicon, phrases, templates
from box.phrases.values import VALUES, in_english, in_french


@pytest.mark.parametrize("seed", range(3))
def test_every_template_is_filled(seed: int) -> None:
    source = random.Random(seed)
    for template in templates():
        for sentence in fill(template, source):
            assert sentence == sentence.strip()
            assert "|" not in sentence
            assert "@" not in sentence or "email" in template[0]


def test_a_sentence_ends_in_one_full_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("box.phrases._draw", lambda kind, source: Entry("4 p.m.", "", "16 h", "", "m*"))
    assert fill(("It is {time}.", "Il est {time}."), random.Random(1)) == ("It is 4 p.m.", "Il est 16 h.")


def test_the_same_seed_makes_the_same_phrases() -> None:
    assert [*phrases(500, seed=5)] == [*phrases(500, seed=5)]
    assert len({*phrases(500, seed=5)}) == 500


def test_addresses_and_placeholders_are_the_same_on_both_sides() -> None:
    source = random.Random(1)
    for kind in ("email", "url", "file", "placeholder", "code", "version", "telephone"):
        for _ in range(50):
            english, french = VALUES[kind](source)
            assert english == french


def test_quantities_have_the_same_digits() -> None:
    source = random.Random(2)
    for kind in ("price", "big", "percent", "weight", "mass", "volume", "speed"):
        for _ in range(100):
            english, french = VALUES[kind](source)
            assert re.sub(r"\D", "", english) == re.sub(r"\D", "", french)


@pytest.mark.parametrize(
    ("template", "kind", "word", "french"),
    [
        ("{le:place}", "place", "hospital", "l'hôpital"),
        ("{au:place}", "place", "market", "au marché"),
        ("{du:stuff}", "stuff", "water", "de l'eau"),
        ("{mon:thing}", "thing", "ladder", "mon échelle"),
        ("{ce:thing}", "thing", "computer", "cet ordinateur"),
        ("{de:s:food}", "food", "orange", "d'oranges"),
        ("{en:country}", "country", "Japan", "au Japon"),
        ("{en:country}", "country", "India", "en Inde"),
        ("{de_pays:country}", "country", "Spain", "d'Espagne"),
        ("{du:sport}", "sport", "chess", "des échecs"),
        ("{le:language}", "language", "Hindi", "le hindi"),
        ("{s:animal}", "animal", "horse", "chevaux"),
        ("{en:country}", "country", "the United States", "aux États-Unis"),
        ("{de_pays:country}", "country", "the Netherlands", "des Pays-Bas"),
        ("{de_pays_le:country}", "country", "the Philippines", "des Philippines"),
        ("{en:season}", "season", "summer", "en été"),
        ("{en:season}", "season", "spring", "au printemps"),
        ("{que:woman}", "woman", "Alice", "qu'Alice"),
        ("{que:man}", "man", "Hans", "que Hans"),
        ("{le:job}", "job", "engineer", "l'ingénieur"),
        ("{les:job}", "job", "firefighter", "les pompiers"),
        ("{f:job}", "job", "baker", "boulangère"),
        ("{f:s:feeling}", "feeling", "happy", "heureuses"),
        ("{de:city}", "city", "Hamburg", "de Hambourg"),
    ],
)
def test_forms_of_french_words(template: str, kind: str, word: str, french: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(entry for entry in lexicon()[kind] if entry.english == word)
    monkeypatch.setattr("box.phrases._draw", lambda kind, source: entry)
    assert fill(("x", template), random.Random(1))[1].casefold() == french.casefold()


@pytest.mark.parametrize(
    ("kind", "word", "english"),
    [
        ("instrument", "ukulele", "a ukulele"),
        ("document", "username", "a username"),
        ("thing", "umbrella", "an umbrella"),
        ("thing", "USB stick", "a USB stick"),
        ("trait", "honest", "an honest"),
    ],
)
def test_english_article(kind: str, word: str, english: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(entry for entry in lexicon()[kind] if entry.english == word)
    monkeypatch.setattr("box.phrases._draw", lambda kind, source: entry)
    assert fill((f"{{a:{kind}}}", "x"), random.Random(1))[0] == english


@pytest.mark.parametrize(
    ("number", "english"), [("eight", "an eight"), ("8", "an 8"), ("11", "an 11"), ("12", "a 12"), ("two", "a two")]
)
def test_english_article_before_a_number(number: str, english: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("box.phrases._draw", lambda kind, source: Entry(number, "", "x", "", "m*"))
    assert fill(("{a:count}", "x"), random.Random(1))[0] == english


def test_lexicon_has_each_entry_once_with_its_genders_and_forms() -> None:
    for kind, entries in lexicon().items():
        assert len({(entry.english, entry.french) for entry in entries}) == len(entries), kind
        for entry in entries:
            assert entry.gender in {"m", "f", "m*", "f*", "p"}
            assert entry.french.count("|") in (0, 3)
            assert all(word == word.strip() != "" for word in (entry.english, entry.french, entry.french_plural))


def test_jobs_and_comparatives_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {kind: lexicon()[kind] for kind in ("job", "comparative", "thing", "woman")}
    chosen = {"job": "baker", "comparative": "bigger", "thing": "chair", "woman": "Alice"}
    monkeypatch.setattr(
        "box.phrases._draw", lambda kind, source: next(entry for entry in kinds[kind] if entry.english == chosen[kind])
    )
    job = ("{woman} is {a:job}.", "{woman} est {job@woman}.")
    best = ("It's {s:comparative} {thing}.", "C'est {le:thing} {thing?le|la} {comparative@thing}.")
    assert fill(job, random.Random(1)) == ("Alice is a baker.", "Alice est boulangère.")
    assert fill(best, random.Random(1)) == ("It's the biggest chair.", "C'est la chaise la plus grande.")


def test_adjectives_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        "thing": Entry("chair", "chairs", "chaise", "chaises", "f"),
        "quality": Entry("new", "", "neuf|neuve|neufs|neuves", "", "m"),
    }
    monkeypatch.setattr("box.phrases._draw", lambda kind, source: words[kind])
    singular = ("The {thing} is {quality}.", "{le:thing} est {quality@thing}.")
    plural = ("The {s:thing} are {quality}.", "{les:thing} sont {quality@s:thing}.")
    assert fill(singular, random.Random(1)) == ("The chair is new.", "La chaise est neuve.")
    assert fill(plural, random.Random(1)) == ("The chairs are new.", "Les chaises sont neuves.")


def test_number_words() -> None:
    assert [in_french(number) for number in (1, 17, 21, 71, 80, 81, 99)] == [
        "un",
        "dix-sept",
        "vingt et un",
        "soixante et onze",
        "quatre-vingts",
        "quatre-vingt-un",
        "quatre-vingt-dix-neuf",
    ]
    assert [in_english(number) for number in (13, 20, 45)] == ["thirteen", "twenty", "forty-five"]
    assert len({in_french(number) for number in range(100)}) == len({in_english(number) for number in range(100)}) == 100
