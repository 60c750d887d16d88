"""What may not be repeated: counted by a literal reading of the rule, and what search does about it."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.search.constraints import without
from rnnsearch.search.plain import PlainBackend
from rnnsearch.search.repetition import LIMITS, Repetition, breaks_limits
from toy import beam_search, random_model

few = st.lists(st.integers(2, 4), max_size=14)


def counts(words: list[int], length: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[i : i + length]) for i in range(len(words) - length + 1))


def literally_too_often(source: list[int], words: list[int]) -> set[int]:
    """The next words after which some words in a row would be there too often, these being the last ones."""
    found = set()
    for word in set(words):
        for length, limit in LIMITS.items():
            longer = [*words, word]
            most = max(limit, *counts(source, length).values(), 0)
            if len(longer) >= length and counts(longer, length)[tuple(longer[-length:])] > most:
                found.add(word)
    return found


@given(sources=st.lists(few, min_size=1, max_size=3), written=st.lists(few, min_size=3, max_size=3))
def test_the_words_that_would_be_repeated_too_often(sources: list[list[int]], written: list[list[int]]) -> None:
    """Hypotheses are of different lengths, since sentences are added at any time."""
    hypotheses: list[list[int]] = []
    repetition = Repetition()
    for source, words in zip(sources, written, strict=False):
        repetition.add(source)
        hypotheses.append([])
        for step, word in enumerate(words):
            following = [*[2 + step % 2] * (len(hypotheses) - 1), word]
            hypotheses = [[*before, after] for before, after in zip(hypotheses, following, strict=True)]
            repetition.advance(np.arange(len(hypotheses)), np.array(following))
    rows, words_found = repetition.too_often()
    pairs = list(zip(rows.tolist(), words_found.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    of_rows = enumerate(zip(sources, hypotheses, strict=False))
    expected = {(row, word) for row, (source, words) in of_rows for word in literally_too_often(source, words)}
    assert set(pairs) == expected


def test_as_often_as_the_source_repeats_its_own_words() -> None:
    no = [7, 8]
    assert breaks_limits([2, 3, 4], no * 5)
    assert not breaks_limits([2, 3, 4], no * 3)
    assert not breaks_limits([5, 6] * 9, no * 9)
    assert breaks_limits([5, 6] * 9, no * 12)


def test_words_are_taken_out_of_their_rows_and_the_next_ones_come_up() -> None:
    log_p = np.array([[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]])
    words = np.array([[5, 6, 7], [7, 5, 6]])
    best, kept = without(log_p, words, 2, np.zeros((2, 2), np.bool_), (np.array([0, 1, 1]), np.array([6, 7, 6])))
    assert kept[0].tolist() == [5, 7]
    assert best[0].tolist() == [-1.0, -3.0]
    assert kept[1, 0] == 5
    assert best[1].tolist() == [-2.0, -np.inf]


def test_a_model_that_loops_is_stopped_and_the_other_sentences_do_not_matter() -> None:
    sizes = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 3}
    free, bound = (SearchConfig(beam=3, maximum_length_ratio=12.0, forbid_repetition=forbids) for forbids in (False, True))
    sentences = [[2, 3], [3, 2, 4], [4], [2, 2, 3, 3, 5]]
    loops = 0
    for seed in range(6):
        backend = PlainBackend(random_model(ModelConfig(**sizes), 6, 7, seed, 1.5).eval())
        together = beam_search(backend, sentences, bound)
        alone = [beam_search(backend, [sentence], bound)[0] for sentence in sentences]
        assert [[h.words for h in found] for found in together] == [[h.words for h in found] for found in alone]
        for sentence, found, loose in zip(sentences, together, beam_search(backend, sentences, free), strict=True):
            loops += any(breaks_limits(sentence, h.words) for h in loose)
            assert not any(breaks_limits(sentence, h.words) for h in found)
    assert loops
