"""Random segmentations have the distributions they should have, and those of sentencepiece."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text import Subwords
from rnnsearch.text.subword_sampling import Sampler, bpe_dropout, unigram_sampling

DRAWS = 20_000
LETTERS = "abc"
WORDS = Counter({"abab": 9, "abcab": 7, "cab": 6, "bca": 5, "abcabc": 4, "ccab": 3, "baab": 2, "aabbcc": 1, "cabcab": 2})
BPE = {"ab": 0, "▁ab": -1, "abc": -2, "▁a": -3, "bc": -4, **dict.fromkeys("▁abc", -9)}
UNIGRAM = {"ab": -2.0, "▁ab": -1.5, "abc": -3.0, "▁a": -2.5, "bc": -2.2, "▁": -3.0, "a": -4.0, "b": -4.5, "c": -5.0}


def shares(draws: list[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
    return {segmentation: count / len(draws) for segmentation, count in Counter(draws).items()}


def sampled(sampler: Sampler, word: str, alpha: float, draws: int = DRAWS) -> dict[tuple[str, ...], float]:
    random = Random(1)
    return shares([tuple(sampler(word, alpha, random)) for _ in range(draws)])


def total_variation(one: dict[tuple[str, ...], float], other: dict[tuple[str, ...], float]) -> float:
    return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()) / 2


def segmentations(word: str) -> list[tuple[str, ...]]:
    """All of them, whether their parts are subwords or not."""
    places = range(1, len(word))
    return [
        tuple(word[start:end] for start, end in zip((0, *chosen), (*chosen, len(word)), strict=True))
        for count in range(len(word))
        for chosen in combinations(places, count)
    ]


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("word", ["▁", "▁abc", "▁abcabab"])
def test_a_unigram_sample_has_the_exact_distribution(word: str, alpha: float) -> None:
    weights = {
        parts: math.exp(alpha * sum(UNIGRAM[part] for part in parts))
        for parts in segmentations(word)
        if all(part in UNIGRAM for part in parts)
    }
    exact = {parts: weight / sum(weights.values()) for parts, weight in weights.items()}
    assert total_variation(sampled(unigram_sampling(UNIGRAM), word, alpha), exact) < 0.02


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_bpe_dropout_has_the_exact_distribution(alpha: float) -> None:
    """Of the merges that are possible, ab comes first, then ▁ab, abc, ▁a and bc."""
    kept, left = 1 - alpha, alpha
    exact = {
        ("▁ab", "c"): kept * kept + left * kept * kept,  # ▁ and ab, or ▁a and b
        ("▁", "abc"): kept * left * kept + left * left * kept * kept,  # ab and c, or a and bc
        ("▁", "ab", "c"): kept * left * left,
        ("▁a", "bc"): left * kept * left * kept,
        ("▁a", "b", "c"): left * kept * left * left,
        ("▁", "a", "bc"): left * left * kept * left,
        ("▁", "a", "b", "c"): left * left * left,
    }
    assert sum(exact.values()) == pytest.approx(1)
    assert total_variation(sampled(bpe_dropout(BPE), "▁abc", alpha), exact) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("alpha", [0.1, 0.4])
@pytest.mark.parametrize("word", ["abcab", "cabbabc"])
def test_the_distribution_is_that_of_sentencepiece(kind: Any, alpha: float, word: str) -> None:
    subwords = Subwords.train(WORDS, kind, 14)
    processor = subwords._processor
    theirs = shares(
        [tuple(processor.encode(word, out_type=str, enable_sampling=True, alpha=alpha, nbest_size=-1)) for _ in range(DRAWS)]
    )
    random = Random(1)
    ours = shares([tuple(subwords.sample([word], alpha, random)) for _ in range(DRAWS)])
    assert len(ours) > 3
    assert total_variation(ours, theirs) < 0.04


words_of_known_letters = st.text(LETTERS, min_size=1, max_size=30).map("▁".__add__)
words = st.one_of(words_of_known_letters, st.text(min_size=1, max_size=8))


@given(word=words, alpha=st.floats(0.01, 0.99), seed=st.integers())
def test_the_parts_make_the_word(word: str, alpha: float, seed: int) -> None:
    """Also where a letter is no subword."""
    for sampler in (bpe_dropout(BPE), unigram_sampling(UNIGRAM)):
        assert "".join(sampler(word, alpha, Random(seed))) == word


@given(word=words_of_known_letters, seed=st.integers())
def test_of_subwords_where_all_letters_are_known(word: str, seed: int) -> None:
    assert all(part in BPE for part in bpe_dropout(BPE)(word, 0.5, Random(seed)))
    assert all(part in UNIGRAM for part in unigram_sampling(UNIGRAM)(word, 0.5, Random(seed)))


BPE_MODEL = Subwords.train(WORDS, "bpe", 14)


@given(word=st.text(LETTERS, min_size=1, max_size=30), seed=st.integers())
def test_bpe_without_dropout_is_the_usual_segmentation(word: str, seed: int) -> None:
    assert BPE_MODEL.sample([word], 1e-12, Random(seed)) == list(BPE_MODEL.segment(word))


def test_draws_do_not_change_from_version_to_version() -> None:
    """Whoever resumes a training with a newer Python gets the segmentations of the older one."""
    random = Random("minibatch 3 of seed 1")
    drawn = [" ".join(bpe_dropout(BPE)("▁abcab", 0.3, random)) for _ in range(5)]
    assert drawn == ["▁ abc ab", "▁ab c a b", "▁ab c a b", "▁ab c ab", "▁ abc a b"]
    drawn = [" ".join(unigram_sampling(UNIGRAM)("▁abcab", 0.3, random)) for _ in range(5)]
    assert drawn == ["▁ abc ab", "▁ a bc ab", "▁a bc ab", "▁a bc ab", "▁ abc a b"]
