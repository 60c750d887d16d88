"""The compiled loops, and PyTorch's operations in their place, give what plain autograd gives in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rnnsearch.config import ModelConfig, TrainingConfig
from rnnsearch.ops import CpuRecurrences, cross_entropy, loops, recurrence_cpu
from rnnsearch.training.cost import training_cost
from toy import ALIGNMENTS, ORDERS, batch_of, random_model, random_pairs

available = pytest.mark.skipif(not loops.AVAILABLE, reason="Numba, or PyTorch's OpenMP library, is not here")
both = pytest.mark.parametrize("compiled", [pytest.param(True, marks=available), False])
sizes = st.integers(1, 40)
per_test = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@both
@per_test
@given(
    alignment=st.sampled_from(ALIGNMENTS),
    order=st.sampled_from(ORDERS),
    shape=st.tuples(sizes, sizes, sizes, sizes),
    lengths=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9),
    smoothing=st.sampled_from((0.0, 0.1)),
    rows=st.sampled_from((4, 256)),
    rows_multiple=st.sampled_from((1, 3, 16)),
    seed=st.integers(0, 2**31),
)
@example("mlp", ORDERS[0], (1, 1, 1, 1), [(0, 0)], 0.0, 4, 1, 0)
def test_cost_and_gradients(
    monkeypatch: pytest.MonkeyPatch,
    compiled: bool,
    alignment: str,
    order: str,
    shape: tuple[int, int, int, int],
    lengths: list[tuple[int, int]],
    smoothing: float,
    rows: int,
    rows_multiple: int,
    seed: int,
) -> None:
    monkeypatch.setattr(loops, "AVAILABLE", compiled)
    monkeypatch.setitem(cross_entropy.ROWS, "fp32", rows)
    monkeypatch.setattr(recurrence_cpu, "ROWS_MULTIPLE", rows_multiple)
    embedding, hidden, aligned, maxout = shape
    config = ModelConfig(
        embedding_size=embedding,
        hidden_size=hidden,
        alignment_size=aligned,
        maxout_size=maxout,
        alignment=alignment,
        decoder_order=order,
    )
    training, words = TrainingConfig(label_smoothing=smoothing), sum(T + 1 for _, T in lengths)
    model = random_model(config, 17, 23, seed, scale=0.3)
    batch = batch_of(random_pairs(seed, lengths, 17, 23))
    found = []
    for engine, dtype in ((CpuRecurrences(), torch.float32), (None, torch.float64)):
        model.to(dtype).zero_grad()
        model.recurrences = engine
        total, nll = training_cost(model(*batch), words, training)
        total.backward()
        gradients = {name: p.grad.double() for name, p in model.named_parameters() if p.grad is not None}
        found.append((total.detach().double(), nll.double(), gradients))
    (ours, our_nll, our_gradients), (theirs, their_nll, their_gradients) = found
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(our_nll, their_nll, rtol=1e-4, atol=1e-4)
    assert our_gradients.keys() == their_gradients.keys()
    scale = max(float(gradient.abs().max()) for gradient in their_gradients.values())
    for name, gradient in their_gradients.items():
        torch.testing.assert_close(our_gradients[name], gradient, rtol=1e-3, atol=1e-5 * max(1, scale), msg=name)


@available
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_thread_does_its_share(threads: int) -> None:
    numbers = torch.zeros(10)
    _count(numbers_of(numbers), numbers, threads=threads)
    assert numbers.tolist() == [1.0] * 10


@available
def test_functions_are_exact_to_a_few_units() -> None:
    x = torch.cat([torch.linspace(-100, 0, 10001), torch.tensor([-1e-30, -0.0])])
    exp, tanh, sigmoid = (torch.empty_like(x) for _ in range(3))
    _functions(numbers_of(x), x, exp, tanh, sigmoid)
    exact = x.double()
    torch.testing.assert_close(exp.double(), torch.exp(exact), rtol=3e-7, atol=1e-37)
    torch.testing.assert_close(tanh.double(), torch.tanh(exact), rtol=5e-7, atol=0)
    torch.testing.assert_close(sigmoid.double(), torch.sigmoid(exact), rtol=0, atol=2e-7)


@available
def test_what_is_not_a_number_stays_so() -> None:
    x = torch.tensor([np.nan, np.nan])
    outs = [torch.zeros(2) for _ in range(3)]
    _functions(numbers_of(x), x, *outs)
    assert all(out.isnan().all() for out in outs)


def numbers_of(x: torch.Tensor) -> tuple[float]:
    return (len(x),)


if loops.AVAILABLE:
    from numba import carray

    @loops.kernel
    def _count(p):  # type: ignore[no-untyped-def]
        n = int(carray(p[0], (1,), np.float64)[0])
        x = carray(p[1], (n,), np.float32)
        first, last = loops.share(n)
        for i in range(first, last):
            x[i] += 1

    @loops.kernel
    def _functions(p):  # type: ignore[no-untyped-def]
        n = int(carray(p[0], (1,), np.float64)[0])
        x, exp = carray(p[1], (n,), np.float32), carray(p[2], (n,), np.float32)
        tanh, sigmoid = carray(p[3], (n,), np.float32), carray(p[4], (n,), np.float32)
        first, last = loops.share(n)
        for i in range(first, last):
            exp[i], tanh[i], sigmoid[i] = loops.exp(x[i]), loops.tanh(x[i]), loops.sigmoid(x[i])
