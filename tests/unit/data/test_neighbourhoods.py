"""The development set of a memory: whole neighbourhoods, and nothing that the training text nearly has."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import DataConfig
from rnnsearch.data.neighbourhoods import (
    MOST,
    RUN,
    Sentences,
    choose_dissimilar,
    count_to_hold_out,
    neighbourhoods,
    word_pairs,
)
from rnnsearch.data.prepare import prepare
from rnnsearch.errors import RnnsearchError

WORDS = [f"{first}{second}" for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ai")]


def distinct(count: int, seed: int = 0) -> list[tuple[str, str]]:
    random = Random(seed)
    return [(" ".join(random.choices(WORDS, k=9)), f"cible {number}") for number in range(count)]


def is_similar(one: str, other: str) -> bool:
    common = word_pairs(one) & word_pairs(other)
    return len(common) >= 0.6 * max(len(word_pairs(one)), len(word_pairs(other)))


def chosen_of(pairs: list[tuple[str, str]], seed: int = 1) -> list[int]:
    runs, wanted = neighbourhoods(pairs, seed)
    return choose_dissimilar(pairs, runs, wanted)


@pytest.mark.parametrize(
    ("pairs", "count"), [(0, 0), (20, 4), (100, 20), (250, 50), (2000, 100), (20_000, 1000), (10**7, MOST)]
)
def test_the_number_follows_the_text(pairs: int, count: int) -> None:
    assert count_to_hold_out(pairs) == count


@given(
    st.lists(st.sampled_from(["a b c d e f g h", "a b c d e f g i", "x 1", "x 2", "y", "z z z"]), max_size=80),
    st.integers(0, 9),
)
def test_nothing_that_is_held_out_is_like_what_is_trained_on(sources: list[str], seed: int) -> None:
    pairs = [(source, "t") for source in sources]
    chosen = chosen_of(pairs, seed)
    trained = [pair for number, pair in enumerate(pairs) if number not in set(chosen)]
    assert not any(is_similar(pairs[number][0], other) for number in chosen for other, _ in trained)


def test_runs_of_adjacent_pairs_are_held_out_and_the_seed_decides() -> None:
    pairs = distinct(3000)
    chosen = chosen_of(pairs)
    assert len(chosen) == count_to_hold_out(3000) == 150
    assert {number // RUN for number in chosen} == {number // RUN for number in chosen if number % RUN == 0}
    assert len({number // RUN for number in chosen}) == 15, "whole runs"
    assert chosen == chosen_of(pairs)
    assert chosen != chosen_of(pairs, seed=2)


def test_similar_sentences_are_found_whatever_their_numbers_and_case() -> None:
    known = Sentences(["Open the file 12 now, please.", "Close it", "No"])
    assert list(known.similar("open the FILE 7 now please")) == [0]
    assert list(known.similar("Open the file 3 now, thanks")) == [0]
    assert list(known.similar("Close")) == []
    assert list(known.similar("no!")) == [2]


def test_twins_stay_in_the_training_text(tmp_path: Path) -> None:
    """Half of a text has a twin elsewhere, which differs by a number: none of it is held out, and all is trained on."""
    twins = [
        (f"Chapter {number} of the book, {word} {word}", f"Chapitre {number} {word}") for number in (1, 2) for word in WORDS
    ]
    alone = distinct(len(twins))
    path = tmp_path / "text.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in [*twins[:84], *alone, *twins[84:]]))
    config = DataConfig(source_language="en", target_language="fr", protect=True)
    prepared = prepare([path], [path], tmp_path / "data", config, hold_out=None)
    held_out = prepared.development_files[0].read_text().splitlines()
    assert 20 < len(held_out) == prepared.held_out <= 50
    assert set(held_out) <= {source for source, _ in alone}
    assert len(prepared.corpus) + prepared.held_out == len(twins) + len(alone)


def test_a_text_of_twins_alone_has_no_development_set(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("".join(f"This is number {number} of many\tC’est le numéro {number}\n" for number in range(100)))
    config = DataConfig(source_language="en", target_language="fr")
    with pytest.raises(RnnsearchError, match="hardly any pair differs from all others; give --valid-source"):
        prepare([path], [path], tmp_path / "data", config, hold_out=None)


def test_held_out_pairs_with_placeholders_are_not_trained_on(tmp_path: Path) -> None:
    """They are recognised although the model sees symbols in place of what is protected."""
    path = tmp_path / "text.tsv"
    path.write_text("".join(f"{word} https://example.org/{word}\tmot https://example.org/{word}\n" for word in WORDS))
    config = DataConfig(source_language="en", target_language="fr", protect=True)
    prepared = prepare([path], [path], tmp_path / "data", config, hold_out=10)
    assert len(prepared.corpus) == len(WORDS) - 10
