"""The lists of phrases: which sentences are looked up, and which of them the model gets wrong."""

from __future__ import annotations

from phrases import MOST_WORDS, accepted, wrong


def test_the_most_frequent_translation_comes_first() -> None:
    pairs = [("Never mind.", "Tant pis."), ("Never mind!", "Ce n'est rien !"), ("never mind", "Ce n'est rien !")]
    assert accepted(pairs) == {"never mind": ("Never mind.", ["Ce n'est rien !", "Tant pis."])}


def test_what_is_in_no_list() -> None:
    assert accepted([("Hi. Bye.", "Salut. Au revoir.")]) == {}
    assert accepted([("It is 5.", "Il est cinq heures.")]) == {}
    assert accepted([("{name} is here", "{name} est là")]) == {}
    assert accepted([("Mon", "lun"), ("elle", "she/her")]) == {}
    assert accepted([("a " * (MOST_WORDS + 1), "b")]) == {}


def test_only_wrong_translations_are_listed() -> None:
    sentences = accepted([("Never mind.", "Tant pis."), ("Never mind.", "Ce n'est rien."), ("Go away!", "Va-t'en !")])
    assert list(wrong(sentences, ["Ce n'est rien.", "Va-t'en."])) == []
    ((is_long, score, *entry),) = wrong(sentences, ["Tant pis !", "Aller loin."])
    assert (is_long, entry) == (False, ["go away", "Va-t'en"])
    assert score < 30
