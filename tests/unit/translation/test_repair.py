"""A word is exchanged in the translation of a segment only where links say which one, and where it fits in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation.repair import may_be_repaired, repaired
from rnnsearch.translation.scoring import ScoredPair

SEGMENT, TARGET = "Open the red file .", "Ouvrez le fichier rouge ."
LINKS = "0-0 1-1 2-3 3-2 4-4"


def pair(source: str, target: str, links: str = LINKS, probability: float = 0.95) -> ScoredPair:
    """A pair with links of this probability between its words."""
    words, others = source.split(), target.split()
    probabilities = np.zeros((len(others), len(words)), np.float32)
    for link in links.split():
        source_place, target_place = map(int, link.split("-"))
        probabilities[target_place, source_place] = probability
    return ScoredPair([*words, "</s>"], others, -1.0, [], None, link_probabilities=probabilities)


def test_the_word_takes_the_place_of_the_other() -> None:
    text = pair("Open the green file .", "Ouvrez le fichier vert .")
    assert repaired("Ouvrez  le fichier rouge.", pair(SEGMENT, TARGET), text) == "Ouvrez  le fichier vert."
    elsewhere = pair("Open the green file .", "Le fichier vert . Ouvrez", "0-4 1-0 2-2 3-1 4-3")
    assert repaired(TARGET, pair(SEGMENT, TARGET), elsewhere) == "Ouvrez le fichier vert ."


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        (pair(SEGMENT, TARGET), pair("Open the green door .", "Ouvrez le fichier vert .")),
        (pair(SEGMENT, TARGET), pair("Open the 7 file .", "Ouvrez le fichier 7 .")),
        (pair(SEGMENT, TARGET), pair("Open the file .", "Ouvrez le fichier .", "0-0 1-1 2-2 3-3")),
        (pair(SEGMENT, TARGET), pair(SEGMENT, TARGET)),
        (pair(SEGMENT, TARGET), pair("Open the green file .", "Ouvrez le fichier vert .", probability=0.6)),
        (pair(SEGMENT, TARGET, probability=0.6), pair("Open the green file .", "Ouvrez le fichier vert .")),
        (pair(SEGMENT, TARGET), pair("Open the green file .", "Ouvrez le fichier vert .", "0-0 1-1 2-3 2-2 3-2 4-4")),
        (pair(SEGMENT, TARGET, "0-0 1-1 2-3 3-3 4-4"), pair("Open the green file .", "Ouvrez le fichier vert .")),
        (pair(SEGMENT, TARGET), pair("Open the green file .", "Ouvrez la porte verte .")),  # the noun is not the same
        (pair(SEGMENT, "Ouvrez le fichier rouge ."), pair("Open the green file .", "Ouvrez le fichier vert !")),
    ],
)
def test_what_is_not_sure_stays(segment: ScoredPair, text: ScoredPair) -> None:
    assert repaired(TARGET, segment, text) is None


def test_a_model_without_links_repairs_nothing() -> None:
    without = ScoredPair([*SEGMENT.split(), "</s>"], TARGET.split(), -1.0, [], None)
    assert repaired(TARGET, without, pair("Open the green file .", "Ouvrez le fichier vert .")) is None


@given(st.lists(st.sampled_from(["a", "b", "c.", "7", "l'eau", ","]), max_size=6), st.integers(0, 5))
def test_one_word_is_seen_without_a_model(words: list[str], place: int) -> None:
    segment = " ".join(words)
    assert not may_be_repaired(segment, segment)
    assert not may_be_repaired(segment, f"{segment} more")
    if place < len(words) and words[place] in ("a", "b"):
        assert may_be_repaired(segment, " ".join([*words[:place], "Other", *words[place + 1 :]]))
