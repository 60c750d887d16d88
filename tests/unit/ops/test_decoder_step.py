"""Every compiled kernel of search computes what PyTorch's operations do, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnsearch.ops import decoder_step, loops

pytestmark = pytest.mark.skipif(not loops.AVAILABLE, reason="no kernels here")
seeds = st.integers(0, 2**31)


def both(function: Callable[[], Any]) -> tuple[Any, Any]:
    """What the kernel gives, and what the operations give."""
    ours = function()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "AVAILABLE", False)
        return ours, function()


def close(ours: tuple[Tensor, ...], theirs: tuple[Tensor, ...]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    A=st.integers(1, 40),
    Y=st.integers(1, 40),
    data=st.data(),
)
def test_attend(lengths: list[int], A: int, Y: int, data: st.DataObject) -> None:
    slots = data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, max_size=12))
    torch.manual_seed(data.draw(seeds))
    Q, S, R = len(lengths), max(lengths) + 2, len(slots)
    wide_RM, keys, v_a, values = torch.randn(R, A + 7), torch.randn(Q, S, A), torch.randn(A), torch.randn(Q, S, Y)
    for slot, length in enumerate(lengths):  # what an earlier sentence left there
        keys[slot, length:] = values[slot, length:] = torch.nan
    arguments = (wide_RM[:, 3 : 3 + A], keys, v_a, values, torch.tensor(lengths), torch.tensor(slots))
    ours, theirs = both(lambda: decoder_step.attend(*arguments))
    close(ours, theirs)
    for (alpha_S, context_Y), slot in zip(zip(*ours, strict=True), slots, strict=True):
        assert (alpha_S[lengths[slot] :] == 0).all()
        assert float(alpha_S.sum()) == pytest.approx(1, abs=1e-5)
        assert context_Y.isfinite().all()


@settings(max_examples=40)
@given(R=st.integers(1, 5), V=st.integers(2, 2000), count=st.integers(1, 7), seed=seeds)
def test_best_words(R: int, V: int, count: int, seed: int) -> None:
    torch.manual_seed(seed)
    product, factor, bias, banned = torch.randn(R, V) * 3, torch.rand(R), torch.randn(V), torch.rand(R, 2) < 0.5
    log_p = torch.log_softmax(product * factor[:, None] + bias, 1)
    ours, theirs = both(lambda: decoder_step.best_words(product.clone(), factor, bias, count, banned))
    for log_p_RW, words_RW in (ours, theirs):
        assert log_p_RW.shape == words_RW.shape == (R, count)
        for row in range(R):
            allowed = V - int(banned[row].sum())
            found = words_RW[row][: min(count, allowed)].tolist()
            assert len(set(found)) == len(found)
            assert not set(banned[row].nonzero().flatten().tolist()) & set(found)
            torch.testing.assert_close(log_p_RW[row][: len(found)], log_p[row][found], rtol=1e-5, atol=1e-5)
            assert (log_p_RW[row][len(found) :] == -torch.inf).all()
    close(ours[:1], theirs[:1])


@settings(max_examples=25)
@given(V=st.integers(5, 2000), different=st.integers(1, 10), seed=seeds)
def test_of_equally_good_words_those_of_the_lowest_numbers_are_best(V: int, different: int, seed: int) -> None:
    torch.manual_seed(seed)
    logits = torch.randint(0, different, (3, V)).float()
    expected = logits.sort(dim=1, descending=True, stable=True).indices[:, :5]
    banned = torch.zeros(3, 2, dtype=torch.bool)
    _, words = decoder_step.best_words(logits.clone(), torch.ones(3), torch.zeros(V), 5, banned)
    assert torch.equal(words, expected)


def test_best_words_of_a_large_vocabulary_with_equal_logits() -> None:
    product = torch.zeros(2, 30_000)
    product[1, 29_999] = 1.0
    log_p, words = decoder_step.best_words(
        product, torch.ones(2), torch.zeros(30_000), 5, torch.zeros(2, 2, dtype=torch.bool)
    )
    assert words.tolist() == [[0, 1, 2, 3, 4], [29_999, 0, 1, 2, 3]]
    assert float(log_p[0, 0]) == pytest.approx(-torch.tensor(30_000.0).log().item(), abs=1e-5)


@settings(max_examples=25)
@given(
    R=st.integers(1, 9),
    X=st.integers(1, 60),
    more=st.integers(0, 5),
    scale=st.sampled_from((0.0, 1e-30, 1.0, 1e20)),
    seed=seeds,
)
def test_quantize(R: int, X: int, more: int, scale: float, seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(R, X) * scale
    for whole, factor in both(lambda: decoder_step.quantize(x, R + more)):
        assert int(whole[:R].min()) >= 1
        assert ((whole[:R].double() - 128) * factor.double()[:, None] - x).abs().max() <= 0.501 * factor.double().max()


@settings(max_examples=25)
@given(X=st.integers(1, 5), parents=st.lists(st.integers(0, 4), min_size=1, max_size=9), N=st.integers(1, 40), seed=seeds)
@pytest.mark.parametrize("contextual", [False, True])
def test_gated_unit_and_maxout(contextual: bool, X: int, parents: list[int], N: int, seed: int) -> None:
    torch.manual_seed(seed)
    parents_R = torch.tensor(parents) % X
    words_R = torch.randint(0, 6, (len(parents),))
    states, projected, table = torch.randn(X, N), torch.randn(X, 2 * N + 4), torch.randn(6, 3 * N + 4)
    context = torch.randn(X, 3 * N + 4) if contextual else None
    ours, theirs = both(lambda: decoder_step.reset(states, projected, context, parents_R, table, words_R))
    close(ours, theirs)
    s, z, reset, inputs = ours
    close(*both(lambda: (decoder_step.update(s, z, inputs, reset),)))
    rows, contexts = torch.randn(len(parents), 2 * N + 4), torch.randn(len(parents), 3 * N + 4)
    close(*both(lambda: (decoder_step.maxout(rows, contexts, table, words_R, 4),)))


def test_what_stands_beside_a_row_does_not_matter_in_the_last_bit() -> None:
    torch.manual_seed(0)
    product, bias = torch.randn(9, 1000), torch.randn(1000)
    factor, banned = torch.rand(9), torch.zeros(9, 2, dtype=torch.bool)
    together = decoder_step.best_words(product.clone(), factor, bias, 5, banned)
    for row in range(9):
        one = slice(row, row + 1)
        alone = decoder_step.best_words(product[one].clone(), factor[one], bias, 5, banned[one])
        assert torch.equal(alone[0], together[0][one])
        assert torch.equal(alone[1], together[1][one])
