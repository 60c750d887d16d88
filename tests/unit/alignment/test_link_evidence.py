"""The evidence for links, and how alike words are written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.alignment import compiled
from rnnsearch.alignment.probability import EVIDENCE, evidence, probability
from rnnsearch.alignment.spelling import letter_pairs, likeness


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_evidence_of_a_pair_says_what_is_around_each_cell(S: int, T: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    forward = np.stack([draw.dirichlet(np.ones(S + 1), T).T[:S] for _ in "ai"])
    backward = np.stack([draw.dirichlet(np.ones(T + 1), S)[:, :T] for _ in "ai"])
    p, types = np.stack([forward, backward]).astype(np.float32), draw.permutation(S * T).astype(np.int32)
    ends = np.array([[0, S], [0, T], [0, S * T]])
    text = compiled.Text(np.arange(S, dtype=np.int32), ends[0], np.arange(T, dtype=np.int32), ends[1], ends[2], types)
    t, shares = draw.random((S * T, 2, 2), np.float32), (draw.random(S), draw.random(T))
    given_ = text, 0, 1, p.reshape(2, 2, -1), t, shares, np.arange(S * T)
    found = evidence(*given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loops", None)
        assert evidence(*given_) == pytest.approx(found, rel=1e-3, abs=1e-5)
    assert found.shape == (S * T, len(EVIDENCE))
    chance = probability(found)
    assert ((chance > 0) & (chance < 1)).all()
    found = found.T.reshape(len(EVIDENCE), S, T)
    known = dict(zip(EVIDENCE, found, strict=True))
    for n, models in enumerate(("agreeing", "independent")):
        mean = np.sqrt(forward[n] * backward[n])

        def at(i: int, j: int, mean: np.ndarray = mean) -> float:
            if (i, j) in ((-1, -1), (S, T)):
                return 1.0
            return float(mean[i, j]) if 0 <= i < S and 0 <= j < T else 0.0

        for i in range(S):
            for j in range(T):
                of_source, of_target = np.delete(mean[i], j).max(initial=0), np.delete(mean[:, j], i).max(initial=0)
                assert known[f"rival of the source word, {models}"][i, j] == pytest.approx(of_source, abs=1e-6)
                assert known[f"rival of the target word, {models}"][i, j] == pytest.approx(of_target, abs=1e-6)
                assert known[f"next on the diagonal, {models}"][i, j] == pytest.approx(at(i + 1, j + 1) + at(i - 1, j - 1))
        assert known[f"forward null, {models}"][0] == pytest.approx(1 - forward[n].sum(0), abs=1e-6)
        assert known[f"logit backward, {models}"] == pytest.approx(
            np.log(backward[n] / (1 - backward[n])), rel=1e-3, abs=1e-4
        )


def test_words_written_alike() -> None:
    words = ["charles", "liberty", "house", "1998", "élan"]
    others = ["charles", "liberté", "maison", "1998", "elan", "1999"]
    cells = np.array([(i, j) for i in range(5) for j in range(6)], np.int32)
    alike = likeness(letter_pairs(words), letter_pairs(others), cells[:, 0], cells[:, 1]).reshape(5, 6)
    assert alike[[0, 3, 4], [0, 3, 4]] == pytest.approx(1)
    assert 0.1 < alike[1, 1] < 1
    assert not alike[2].any()
    assert alike[3, 5] < 1
