"""Alignments of pieces, as alignments of words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation.alignments import by_words

pieces = st.lists(st.integers(1, 4), max_size=5)


@given(source=pieces, target=pieces, seed=st.integers(0, 2**31))
def test_sums_over_source_pieces_means_over_target_pieces(source: list[int], target: list[int], seed: int) -> None:
    """`source` and `target` say of how many pieces each word is."""
    sources = [word for word, count in enumerate(source) for _ in range(count)]
    targets = [word for word, count in enumerate(target) for _ in range(count)]
    alpha = np.random.default_rng(seed).dirichlet(np.ones(len(sources) + 1), len(targets)).astype(np.float32)
    found = by_words(alpha.reshape(len(targets), len(sources) + 1), targets, sources)
    assert found.shape == (len(target), len(source) + 1)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    for i in range(len(target)):
        rows = alpha[[t for t, word in enumerate(targets) if word == i]]
        for j in range(len(source)):
            columns = [s for s, word in enumerate(sources) if word == j]
            np.testing.assert_allclose(found[i, j], rows[:, columns].sum(1).mean(), rtol=1e-5, atol=1e-7)


def test_words_that_are_whole_stay_as_they_are() -> None:
    alpha = np.eye(3, 4, dtype=np.float32)
    assert by_words(alpha, [0, 1, 2], [0, 1, 2]) is alpha
