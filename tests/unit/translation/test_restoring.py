"""What is put back into a translation: spans, capitals, the final mark."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.protected import ALL_SYMBOLS, Protected
from rnnsearch.translation.restoring import Seen, moved_terms, rows_of
from rnnsearch.translation.translation import PlacedTerm

SPANS = ["anna@example.com", "{name}", "😊", "$25.99", "1,250", "A-17b", "%d", "www.example.org"]
FRENCH = {"$25.99": "25,99\N{NO-BREAK SPACE}$", "1,250": "1\N{NO-BREAK SPACE}250"}
ORDINARY = ["the", "house", "of", "Anna", "is", "here", ".", ",", "?"]


def seen(line: str) -> Seen:
    return Seen.of(line.split(), "en", lambda word: word not in ORDINARY)


def restored(line: str, tokens: str, read_from: list[int]) -> str:
    return " ".join(one.word for one in seen(line).restored(tokens.split(), read_from, "fr"))


def test_the_model_sees_symbols_and_usual_spellings() -> None:
    one = seen("THE HOUSE OF anna@example.com IS HERE , $25.99 .")
    assert one.seen == ["The", "house", "of", "⟦1⟧", "is", "here", ",", "⟨1⟩", "."]


@pytest.mark.parametrize(
    ("line", "tokens", "expected"),
    [
        ("the GDP grew", "la ⟦1⟧ augmente", "le PIB augmente"),
        ("the VAT", "le ⟦1⟧", "la TVA"),
        ("of the UN", "du ⟦1⟧", "de l' ONU"),
        ("the role of the VAT", "le rôle du ⟦1⟧", "le rôle de la TVA"),
        ("The HR", "La ⟦1⟧", "Les RH"),
        ("the IBAN", "la ⟦1⟧", "l' IBAN"),
        ("an IPO", "un ⟦1⟧", "une introduction en bourse"),
    ],
)
def test_abbreviations_that_have_another_form(line: str, tokens: str, expected: str) -> None:
    further = {word: Protected(0, len(word), word, is_abbreviation=True) for word in line.split() if word.isupper()}
    words = Seen.of(line.split(), "en", lambda word: 0.0, further)
    found = words.restored(tokens.split(), [*range(len(tokens.split()))], "fr")
    assert " ".join(one.word for one in found) == expected


def test_abbreviations_of_a_user_stay() -> None:
    assert Protected(0, 3, "GDP").written("fr") == "GDP"
    assert Protected(0, 3, "TVA", is_abbreviation=True).written("en") == "VAT"
    assert Protected(0, 3, "TVA", is_abbreviation=True).written("de") == "TVA"


def test_abbreviations_are_read_without_full_stops() -> None:
    words = seen("the U.S. and the U.K. , e.g. J. and a.m.").seen
    assert " ".join(words) == "the US and the UK , e.g. J. and a.m."


@pytest.mark.parametrize(
    ("line", "tokens", "read_from", "expected"),
    [
        ("see {name} here .", "voir ⟦1⟧ ici .", [0, 1, 2, 3], "voir {name} ici ."),
        ("pay $25.99 here .", "payer ici ⟨1⟩ .", [0, 2, 1, 3], "payer ici 25,99\N{NO-BREAK SPACE}$ ."),
        # What the model has left out is put behind the translation of the word before it, or at the end.
        ("see {name} here .", "voir ici .", [0, 2, 3], "voir {name} ici ."),
        ("see here . 😊", "voir ici .", [0, 1, 2], "voir ici . 😊"),
        ("{name} is here .", "est ici .", [1, 2, 3], "{name} est ici ."),
        # What it has twice, or has made up, goes.
        ("see {name} .", "voir ⟦1⟧ ⟦1⟧ ⟨3⟩ .", [0, 1, 1, 1, 2], "voir {name} ."),
        # Final marks.
        ("see here", "voir ici .", [0, 1, 2], "voir ici"),
        ("see here ?", "voir ici .", [0, 1, 2], "voir ici ?"),
        ("see here .", "voir ici", [0, 1], "voir ici ."),
        ("see here !", "voir ici ?", [0, 1, 2], "voir ici ?"),
        ("see here ! ! !", "voir ici !", [0, 1, 2], "voir ici ! ! !"),
        ("see here ? !", "voir ici ! ! ! !", [0, 1, 2, 2, 2, 2], "voir ici ? !"),
        ("in the U.S.", "aux États-Unis .", [0, 2, 3], "aux États-Unis ."),
        ("see the art.", "voir l' art", [0, 1, 2], "voir l' art ."),
        ("see trees , etc.", "voir arbres , etc.", [0, 1, 2, 3], "voir arbres , etc."),
        ("wait …", "attendez ...", [0, 1], "attendez …"),
        ("… and here ...", "... et ici ...", [0, 1, 2, 3], "... et ici ..."),
        # Signs that the source does not have.
        ("see a rake .", "voir un * râteau .", [0, 1, 1, 2, 3], "voir un râteau ."),
        ("see * here *", "voir * ici *", [0, 1, 2, 3], "voir * ici *"),
        ("see [1] .", "voir [ .", [0, 1, 2], "voir [ ."),
        # Quotation marks.
        ('" I see , " she said .', "« Je vois , dit-elle .", [0, 1, 2, 3, 5, 7], "« Je vois » , dit-elle ."),
        ('she said : " see "', "elle dit : voir »", [0, 1, 2, 4, 5], "elle dit : « voir »"),
        ('" yes " and " no "', "« oui et « non »", [0, 1, 3, 4, 5, 6], "« oui » et « non »"),
        ('" yes " and " no "', "« oui » et « non »", [0, 1, 2, 3, 4, 5, 6], "« oui » et « non »"),
        ("she said yes", "elle dit « oui", [0, 1, 2, 2], "elle dit « oui"),
        ('she said " yes', "elle dit « oui", [0, 1, 2, 3], "elle dit « oui"),
        ('she said , " see "', "elle dit , « voir »", [0, 1, 2, 3, 4, 5], "elle dit : « voir »"),
        ('" see " , " no "', "« voir » , « non »", [0, 1, 2, 3, 4, 5, 6], "« voir » , « non »"),
        ('" yes " and " no "', '« oui » et " non »', [0, 1, 2, 3, 4, 5, 6], "« oui » et « non »"),
        # Brackets.
        ("here ( in May ) and there .", "ici ( en mai et là .", [0, 1, 2, 3, 5, 6, 7], "ici ( en mai ) et là ."),
        ("here ( in May ) and there .", "ici en mai ) et là .", [0, 2, 3, 4, 5, 6, 7], "ici ( en mai ) et là ."),
        ("( a ) or ( b )", "( a ) ou b )", [0, 1, 2, 3, 5, 6], "( a ) ou ( b )"),
        ("( a ) or ( b )", "( a ou ( b )", [0, 1, 3, 4, 5, 6], "( a ) ou ( b )"),
        ("a ) or ( b", "a ) ou b", [0, 1, 2, 4], "a ) ou b"),
        # What is there twice in succession.
        ("the house of Anna", "la maison maison d' Anna", [0, 1, 1, 2, 3], "la maison d' Anna"),
        ("the house , Anna", "la maison , la maison , Anna", [0, 1, 2, 0, 1, 2, 3], "la maison , Anna"),
        ("no no no", "non non non", [0, 1, 2], "non non non"),
        ("you are here", "vous vous trouvez", [0, 0, 1], "vous vous trouvez"),
        # Capitals.
        ("Friend", "ami", [0], "Ami"),
        ("Best friend", "meilleur ami", [0, 1], "Meilleur ami"),
        ("friend", "ami", [0], "ami"),
        ("NATO", "otan", [0], "OTAN"),
        ("The friend of Anna", "l' ami d' Anna", [0, 1, 2, 3], "L' ami d' Anna"),
        ("THE HOUSE OF {name}", "La maison de ⟦1⟧", [0, 1, 2, 3], "LA MAISON DE {name}"),
        ("the HOUSE OF Anna", "la maison d' Anna", [0, 1, 2, 3], "la MAISON D' Anna"),
    ],
)
def test_restored(line: str, tokens: str, read_from: list[int], expected: str) -> None:
    assert restored(line, tokens, read_from) == expected


@given(
    st.lists(st.sampled_from(['"', "she", "said", ",", "."]), min_size=1, max_size=9),
    st.lists(st.sampled_from(["«", "»", "“", "”", '"', "elle", "dit", ",", "."]), max_size=9),
    st.data(),
)
def test_words_stay_whatever_the_quotation_marks_are(source: list[str], target: list[str], data: st.DataObject) -> None:
    """Nothing but quotation marks, at most one, and the final mark is added, and no word goes but one said again."""
    read_from = data.draw(st.lists(st.integers(0, len(source)), min_size=len(target), max_size=len(target)))
    words = [one.word for one in Seen.of(source, "en", lambda word: 0.0).restored(target, read_from, "fr")]
    left, given_words = ([word for word in some if word.isalpha()] for some in (words, target))
    assert set(left) == set(given_words)
    assert len(left) == len(given_words) or any(given_words.count(word) > 1 for word in given_words)
    marks = [word for word in words if word in '«»“”"']
    assert len(marks) - sum(word in '«»“”"' for word in target) in (0, 1)


@given(st.data())
def test_every_span_is_there_once(data: st.DataObject) -> None:
    """Whatever the model writes, every span of the source is in the translation exactly once, as it is written there."""
    spans = data.draw(st.permutations(SPANS).flatmap(lambda all_: st.integers(0, len(SPANS)).map(lambda n: all_[:n])))
    words = list(data.draw(st.permutations(spans + data.draw(st.lists(st.sampled_from(ORDINARY), max_size=6)))))
    tokens = data.draw(st.lists(st.sampled_from(["la", "maison", ".", "?", *sorted(ALL_SYMBOLS)]), max_size=12))
    read_from = [data.draw(st.integers(0, len(words))) for _ in tokens]
    one = Seen.of(words, "en", lambda word: 0)
    written = [each.word for each in one.restored(tokens, read_from, "fr")]
    for span in spans:
        assert written.count(FRENCH.get(span, span)) == 1
    assert not ALL_SYMBOLS.intersection(written)


def test_faults_are_counted() -> None:
    one = seen("see {name} and $25.99")
    assert one.faults(["voir", "⟦1⟧", "et", "⟨1⟩"]) == 0
    assert one.faults(["voir", "⟦1⟧", "⟦1⟧", "⟦2⟧"]) == 3


def test_rows_and_terms_move_with_the_words() -> None:
    one = seen("see {name} here .")
    written = one.restored(["voir", "ici", "."], [0, 2, 3], "fr")
    alignment = np.eye(3, 5, dtype=np.float32)
    assert rows_of(written, alignment).tolist() == [
        [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0],
    ]  # fmt: skip
    assert moved_terms([PlacedTerm(2, 3, 1, 2)], written) == [PlacedTerm(2, 3, 2, 3)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("2th", "2nd"),
        ("21th", "21st"),
        ("13rd", "13th"),
        ("112nd", "112th"),
        ("3r", "3rd"),
        ("2e", "2nd"),
        ("3rd", "3rd"),
        ("th", "th"),
    ],
)
def test_english_ordinals(word: str, expected: str) -> None:
    one = Seen.of(["le", "étage"], "fr", len)
    assert one.restored(["the", word], [0, 1], "en")[1].word == expected


def test_signs_that_stand_apart_are_kept() -> None:
    assert Seen.of(["A", "/", "B"], "en", len, apart=frozenset("/")).kept == {"/"}


@pytest.mark.parametrize(("word", "expected"), [("2ne", "2e"), ("3rd", "3e"), ("1er", "1er"), ("2e", "2e")])
def test_french_ordinals(word: str, expected: str) -> None:
    one = Seen.of(["the", "floor"], "en", len)
    assert one.restored(["au", word], [0, 1], "fr")[1].word == expected


@pytest.mark.parametrize(
    ("word", "figures"), [("XXIe", "21e"), ("XIVème", "14e"), ("IVe", "4e"), ("Xe", "Xe"), ("vie", "vie")]
)
def test_centuries_are_read_in_figures(word: str, figures: str) -> None:
    assert Seen.of(["le", word, "siècle"], "fr", len).seen[1] == figures


@pytest.mark.parametrize(
    ("line", "tokens", "expected"),
    [
        ("the iPhone of @anna .", "le ⟦1⟧ de ⟦2⟧ .", "l' iPhone de @anna ."),
        ("of iPhone here", "du ⟦1⟧ ici", "de l' iPhone ici"),
        ("of YouTube here", "d' ⟦1⟧ ici", "de YouTube ici"),
        ("add 2 tbsp .", "ajoutez ⟨1⟩ .", "ajoutez 2 c. à s."),
        ("add 2 tbsp oil .", "ajoutez ⟨1⟩ huile .", "ajoutez 2 c. à s. d' huile ."),
        ("add 2 tbsp salt .", "ajoutez ⟨1⟩ sel .", "ajoutez 2 c. à s. de sel ."),
        ("add 2 tbsp of salt .", "ajoutez ⟨1⟩ de sel .", "ajoutez 2 c. à s. de sel ."),
    ],
)
def test_words_before_spans(line: str, tokens: str, expected: str) -> None:
    words = [word.replace("_", "\N{NO-BREAK SPACE}") for word in line.replace("2 tbsp", "2_tbsp").split()]
    one = Seen.of(words, "en", lambda word: 1)
    written = one.restored(tokens.split(), range(len(tokens.split())), "fr")
    assert " ".join(one.word for one in written).replace("\N{NO-BREAK SPACE}", " ") == expected
    assert rows_of(written, np.eye(len(tokens.split()), len(words) + 1, dtype=np.float32)).shape[0] == len(written)
