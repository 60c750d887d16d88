"""Minimum Bayes risk."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.translation import Translator
from rnnsearch.translation.mbr import expected_chrf
from toy import toy_pairs


def test_the_most_like_the_others_is_expected_to_be_best() -> None:
    texts = ["le chien dort", "le chat dort", "un chat dort", "le chat dormait"]
    assert np.argmax(expected_chrf(texts, [math.log(p) for p in (0.3, 0.25, 0.25, 0.2)])) == 1


def test_a_text_that_is_all_but_certain_is_expected_to_be_best() -> None:
    found = expected_chrf(["le chien", "le chat", "un chat"], [0.0, -40.0, -40.0])
    assert found.argmax() == 0
    assert found[0] == pytest.approx(100)


@settings(max_examples=25)
@given(
    texts=st.lists(st.sampled_from(["a b", "a c", "a b c", "d", ""]), min_size=1, max_size=6),
    shift=st.floats(-500, 0),
    seed=st.integers(0, 2**31),
)
def test_only_the_candidates_share_the_probability(texts: list[str], shift: float, seed: int) -> None:
    log_p = np.random.default_rng(seed).normal(0, 3, len(texts))
    found = expected_chrf(texts, log_p.tolist())
    np.testing.assert_allclose(found, expected_chrf(texts, (log_p + shift).tolist()), rtol=1e-9)
    assert ((found >= -1e-9) & (found <= 100 + 1e-9)).all()


def test_translations_come_by_their_risk(trained: Callable[..., Translator]) -> None:
    translator = trained("gated", "mlp")
    lines = [source for source, _ in toy_pairs(4, seed=5)] + [""]
    plain = translator.n_best(lines, 4, beam=4)
    rank_by_mbr = translator.n_best(lines, 4, beam=4, minimum_bayes_risk=True)
    best = translator.translate(lines, beam=4, minimum_bayes_risk=True)
    for before, after, first in zip(plain, rank_by_mbr, best, strict=True):
        assert sorted(t.text for t in before) == sorted(t.text for t in after)
        expected = expected_chrf([t.text for t in after], [t.score for t in after])
        assert (np.diff(expected) <= 1e-9).all()
        assert first.text == after[0].text
