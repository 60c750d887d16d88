"""The evidence for links, and how alike words are written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.alignment import compiled
from rnnsearch.alignment.probability import EVIDENCE, SURROUNDINGS, evidence, networks, probability, surroundings
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
    chance = networks()[0](found)
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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_the_second_network_reads_the_predictions_around_each_link(sizes: list[tuple[int, int]], seed: int) -> None:
    draw = np.random.default_rng(seed)
    lengths = np.array(sizes)
    # Of each pair, some position pairs are given, with predictions some of which are equal.
    given_ = [np.flatnonzero(draw.random(S * T) < 0.6) for S, T in sizes]
    starts = np.cumsum([0, *map(len, given_)])
    i, j = (
        np.concatenate([np.divmod(cells, max(1, T))[side] for cells, (_, T) in zip(given_, sizes, strict=True)])
        for side in (0, 1)
    )
    p = draw.choice([0.02, 0.3, 0.5, 0.999999], len(i)) * draw.choice([1, 0.9], len(i))
    found = surroundings(p, i, j, starts, lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loops", None)
        assert surroundings(p, i, j, starts, lengths) == pytest.approx(found, abs=1e-9)
    for pair, (S, T) in enumerate(sizes):
        here = range(starts[pair], starts[pair + 1])
        of_cells = {(int(i[n]), int(j[n])): float(p[n]) for n in here} | {(-1, -1): 1.0, (S, T): 1.0}
        for n in here:
            known = dict(zip(SURROUNDINGS, found[n], strict=True))
            at = int(i[n]), int(j[n])
            assert known["prediction at +1, -1"] == of_cells.get((at[0] + 1, at[1] - 1), 0)
            assert known["prediction at -2, -2"] == of_cells.get((at[0] - 2, at[1] - 2), 0)
            others = [of_cells.get((at[0], t), 0) for t in range(T) if t != at[1]]
            assert known["other links of the source word"] == pytest.approx(sum(others))
            assert known["rival of the source word"] == max(others, default=0)
            assert known["rival of the target word"] == max(
                (of_cells.get((s, at[1]), 0) for s in range(S) if s != at[0]), default=0
            )


def test_the_probability_of_a_link_does_not_depend_on_other_pairs() -> None:
    draw = np.random.default_rng(1)
    features = draw.normal(size=(30, len(EVIDENCE)))
    i, j = np.divmod(np.arange(15), 5)
    together = probability(features, np.tile(i, 2), np.tile(j, 2), np.array([0, 15, 30]), np.array([[3, 5]] * 2))
    alone = [probability(part, i, j, np.array([0, 15]), np.array([[3, 5]])) for part in (features[:15], features[15:])]
    assert (together == np.concatenate(alone)).all()


def test_words_written_alike() -> None:
    words = ["charles", "liberty", "house", "1998", "élan"]
    others = ["charles", "liberté", "maison", "1998", "elan", "1999"]
    cells = np.array([(i, j) for i in range(5) for j in range(6)], np.int32)
    alike = likeness(letter_pairs(words), letter_pairs(others), cells[:, 0], cells[:, 1]).reshape(5, 6)
    assert alike[[0, 3, 4], [0, 3, 4]] == pytest.approx(1)
    assert 0.1 < alike[1, 1] < 1
    assert not alike[2].any()
    assert alike[3, 5] < 1
