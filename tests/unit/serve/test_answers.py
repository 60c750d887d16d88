"""Alternatives: those that a reader could not tell from the translation, or from each other, are none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.answers import answer, n_best_size
from rnnsearch.serve.protocol import Detected, TranslateRequest
from rnnsearch.translation.sentences import Passage
from toy import toy_pairs


def alternatives(n_best_lists: list[list[str]], count: int) -> tuple[str, list[str]]:
    """The translation and its alternatives, where the sentences of a text have these translations."""
    passage = Passage("", ["a"] * len(n_best_lists), [" "] * len(n_best_lists))
    found = cast(Any, [[SimpleNamespace(text=text) for text in texts] for texts in n_best_lists])
    asked = TranslateRequest(q="a", target="fr", alternatives=count)
    told = answer(asked, [passage], found, [Detected(language="en")])
    return cast(str, told.translatedText), cast(list[str], told.alternatives)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["le chien.", "LE CHIEN", " Le  chien ", "Le chien…", "le chien .", "Un chien."], ["Un chien."]),
        (["Le chien !", "Le chien?"], ["Le chien !", "Le chien?"]),
        (["Le chien", "Le chien"], []),
        (["Un chien.", "un chien", "Ce chien."], ["Un chien.", "Ce chien."]),
        (["Le ﬁls", "Le fils", "Le chien."], ["Le ﬁls"]),
        ([], []),
    ],
)
def test_repetitions_are_left_out(others: list[str], expected: list[str]) -> None:
    best, found = alternatives([["Le chien.", *others]], 3)
    assert (best, found) == ("Le chien. ", [f"{text} " for text in expected])


def test_no_more_than_are_asked_for() -> None:
    assert alternatives([["a", "b", "c", "d"]], 2) == ("a ", ["b ", "c "])


def test_texts_of_several_sentences() -> None:
    """A sentence that has no more translations stays at its last one."""
    assert alternatives([["a", "b", "B"], ["c"]], 3) == ("a c ", ["b c "])
    assert alternatives([], 3) == ("", [])


def test_texts_without_words() -> None:
    assert alternatives([["…", "...", "…"]], 3) == ("… ", [])
    assert alternatives([["+", "-", "+"]], 3) == ("+ ", ["- "])


def test_more_are_searched_for_where_the_beam_has_them() -> None:
    for given, beam, expected in (
        ({}, 5, 1), ({"alternatives": 1}, 5, 5), ({"alternatives": 8}, 5, 9), ({"alternatives": 1, "beam": 3}, 5, 3),
        ({"alternatives": 1}, 100, 20), ({"n_best": 7}, 5, 7), ({"n_best": 7, "alternatives": 1}, 5, 7),
    ):  # fmt: skip
        assert n_best_size(TranslateRequest(q="a", target="fr", **given), beam) == expected  # type: ignore[arg-type]


def test_the_server_repeats_nothing(client: TestClient) -> None:
    lines = [source for source, _ in toy_pairs(8, seed=3)]
    plain = client.post("/translate", json={"q": lines, "target": "fr", "source": "en"}).json()["translatedText"]
    found = client.post("/translate", json={"q": lines, "target": "fr", "source": "en", "alternatives": 3}).json()
    assert found["translatedText"] == plain
    for best, others in zip(found["translatedText"], found["alternatives"], strict=True):
        assert len({text.strip().casefold() for text in [best, *others]}) == 1 + len(others)
        assert 0 < len(others) <= 3
