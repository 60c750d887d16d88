"""Forward-backward, and the compiled loops beside the plain ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.alignment import Aligner, Corpus, compiled
from rnnsearch.alignment.hmm import forward_backward

sentences = st.lists(st.sampled_from("abcdefgh"), max_size=7)
texts = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


def random_pair(Ty: int, Tx: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.random((Ty, Tx)), draw.random(Ty), draw.random((3, 2 * Tx + 3)), draw.integers(3, size=Tx)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_posteriors_of_a_word_sum_to_one(Ty: int, Tx: int, seed: int) -> None:
    found = forward_backward(*random_pair(Ty, Tx, seed), p_0=0.2)
    assert found.links.sum(1) + found.null == pytest.approx(np.ones(Ty))
    assert found.jumps.sum() <= Ty - 1 + 1e-9


@pytest.mark.parametrize(("Ty", "Tx"), [(1, 1), (2, 3), (3, 2)])
def test_posteriors_are_those_of_all_alignments_listed(Ty: int, Tx: int) -> None:
    t, n, jump, classes = random_pair(Ty, Tx, seed=5)
    p_0, L = 0.3, Tx + 1
    links, total = np.zeros((Ty, Tx)), 0.0
    # A state is a position and whether the word is generated there; a word of none keeps the position.
    for states in itertools.product(itertools.product(range(Tx), (True, False)), repeat=Ty):
        probability, before = 1.0, -1
        for j, (i, generates) in enumerate(states):
            if j == 0 or generates:
                c = jump[classes[before] if j > 0 else 0]
                step = c[L + i - before] / sum(c[L + k - before] for k in range(Tx))
            else:
                step = float(i == before)
            probability *= step * ((1 - p_0) * t[j, i] if generates else p_0 * n[j])
            before = i
        probability *= jump[classes[before], L + Tx - before]
        total += probability
        for j, (i, generates) in enumerate(states):
            links[j, i] += probability * generates
    found = forward_backward(t, n, jump, classes, p_0)
    assert found.links == pytest.approx(links / total)
    assert found.log_likelihood == pytest.approx(np.log(total))


@settings(max_examples=10, deadline=None)
@given(texts)
def test_compiled_and_plain_loops_agree(text: list[tuple[list[str], list[str]]]) -> None:
    if compiled.loops is None:
        pytest.skip("Numba is not installed")
    found = []
    for loops in (compiled.loops, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "loops", loops)
            corpus = Corpus(text)
            lines = list(Aligner.learn(corpus).align(corpus))
            kinds = {
                kind
                for block in corpus.blocks()
                for kind in zip(block.type_source.tolist(), block.type_target.tolist(), strict=True)
            }
        found.append((lines, kinds))
    assert found[0][1] == found[1][1]
    for one, other in zip(found[0][0], found[1][0], strict=True):
        ours, theirs = (
            {cell: p for *cell_, p in zip(x.source, x.target, x.forward, strict=True) if (cell := tuple(cell_))}
            for x in (one, other)
        )
        for cell in ours.keys() | theirs.keys():
            assert ours.get(cell, 0.0) == pytest.approx(theirs.get(cell, 0.0), abs=0.02)
