"""Adadelta as Zeiler wrote it down, and the learning rate's schedule."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from rnnsearch.config import TrainingConfig
from rnnsearch.ops import loops
from rnnsearch.training.optimizer import gradient_norm, learning_rate, make_optimizer


@pytest.mark.parametrize(("rho", "epsilon"), [(0.95, 1e-6), (0.5, 1e-2)])
def test_adadelta_is_zeilers(rho: float, epsilon: float) -> None:
    """Algorithm 1 of Zeiler (2012)."""
    config = TrainingConfig(optimizer="adadelta", adadelta_rho=rho, adadelta_epsilon=epsilon, learning_rate=1.0)
    random = np.random.default_rng(0)
    x = random.normal(size=(3, 2))
    parameter = torch.nn.Parameter(torch.from_numpy(x.copy()))
    optimizer = make_optimizer([parameter], config)
    mean_g2, mean_dx2 = np.zeros_like(x), np.zeros_like(x)
    for _ in range(20):
        g = random.normal(size=x.shape) * random.choice([0, 1e-4, 10], size=x.shape)
        parameter.grad = torch.from_numpy(g.copy())
        optimizer.step()
        mean_g2 = rho * mean_g2 + (1 - rho) * g**2
        dx = -np.sqrt(mean_dx2 + epsilon) / np.sqrt(mean_g2 + epsilon) * g
        mean_dx2 = rho * mean_dx2 + (1 - rho) * dx**2
        x = x + dx
        np.testing.assert_allclose(parameter.detach().numpy(), x, rtol=1e-10, atol=1e-14)


def test_adam_steps_by_the_learning_rate_first() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    optimizer = make_optimizer([parameter], TrainingConfig(optimizer="adam", learning_rate=0.01))
    parameter.grad = torch.tensor([5.0, -1e-3, 20.0])
    optimizer.step()
    torch.testing.assert_close(parameter.detach(), torch.tensor([0.99, -1.99, 2.99]))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("optimizer", ["adadelta", "adam"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=8),
    scale=st.sampled_from((1.0, 0.3)),
    seed=st.integers(0, 2**31),
)
def test_gradients_by_rows_are_whole_gradients(
    monkeypatch: pytest.MonkeyPatch,
    optimizer: Literal["adadelta", "adam"],
    compiled: bool,
    batches: list[list[int]],
    scale: float,
    seed: int,
) -> None:
    """Words that come and go, in whatever order, as PyTorch's own optimizers take them: with zeros everywhere else."""
    monkeypatch.setattr(loops, "AVAILABLE", loops.AVAILABLE and compiled)
    config = TrainingConfig(optimizer=optimizer, learning_rate=0.1, adadelta_epsilon=1e-3)
    start = torch.randn(6, 3, generator=torch.Generator().manual_seed(seed))
    by_rows, whole = nn.Parameter(start.clone()), nn.Parameter(start.double())
    ours = make_optimizer([by_rows], config)
    theirs = (
        torch.optim.Adadelta([whole], lr=0.1, rho=config.adadelta_rho, eps=1e-3)
        if optimizer == "adadelta"
        else torch.optim.Adam([whole], lr=0.1, betas=(0.9, 0.98), eps=1e-9)
    )
    for words in batches:
        for parameter, sparse in ((by_rows, True), (whole, False)):
            parameter.grad = None
            embedded = nn.functional.embedding(torch.tensor(words), parameter, sparse=sparse)
            (embedded**2 + embedded).sum().mul(0.5).backward()
        assert gradient_norm([by_rows]) == pytest.approx(float(whole.grad.norm()), rel=1e-3)
        whole.grad.mul_(scale)
        ours.step(scale)
        theirs.step()
        torch.testing.assert_close(by_rows.detach().double(), whole.detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("optimizer", ["adadelta", "adam"])
@pytest.mark.parametrize("shape", [(5, 7), (11,), (1, 1)])
def test_compiled_and_plain_steps_are_the_same(
    monkeypatch: pytest.MonkeyPatch, optimizer: Literal["adadelta", "adam"], shape: tuple[int, ...]
) -> None:
    config = TrainingConfig(optimizer=optimizer, learning_rate=0.01)
    found = []
    for compiled in (True, False):
        monkeypatch.setattr(loops, "AVAILABLE", loops.AVAILABLE and compiled)
        generator = torch.Generator().manual_seed(1)
        parameter = nn.Parameter(torch.randn(shape, generator=generator))
        backend = make_optimizer([parameter], config)
        for _ in range(10):
            parameter.grad = torch.randn(shape, generator=generator)
            backend.step(0.5)
        found.append(parameter.detach())
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-6)


def test_a_run_may_move_to_where_gradients_are_whole() -> None:
    """What rows have missed is made up for when gradients stop coming by rows."""
    config = TrainingConfig(optimizer="adadelta", adadelta_epsilon=1e-3)
    start = torch.randn(4, 2, generator=torch.Generator().manual_seed(3))
    mixed, whole = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    for parameter in (mixed, whole):
        optimizer = make_optimizer([parameter], config)
        for i, words in enumerate(([0, 1], [1], [2, 1], [0, 3], [1, 2])):
            parameter.grad = None
            by_rows = parameter is mixed and i < 3
            nn.functional.embedding(torch.tensor(words), parameter, sparse=by_rows).pow(2).sum().backward()
            gradient_norm([parameter])
            optimizer.step()
    torch.testing.assert_close(mixed, whole)


configs = st.builds(
    TrainingConfig,
    learning_rate=st.floats(1e-4, 1),
    warmup_updates=st.integers(0, 50),
    decay=st.sampled_from(("none", "plateau", "linear")),
)


@given(config=configs, last=st.integers(1, 200), factor=st.sampled_from((1.0, 0.5, 0.125)))
def test_schedule(config: TrainingConfig, last: int, factor: float) -> None:
    """It rises through the warm-up, never rises after it, is never above the setting, and never zero in a run."""
    rates = [learning_rate(update, last, factor, config) for update in range(1, last + 1)]
    assert all(0 < rate <= config.learning_rate * factor * (1 + 1e-12) for rate in rates)
    warm = max(config.warmup_updates - 1, 0)
    assert all(one < other for one, other in pairwise(rates[: warm + 1]))
    assert all(one >= other for one, other in pairwise(rates[warm:]))
    if config.decay != "linear" and last > warm:
        assert rates[-1] == config.learning_rate * factor


@given(config=configs, last=st.integers(1, 200))
def test_the_plateau_factor_scales_every_rate(config: TrainingConfig, last: int) -> None:
    for update in range(1, last + 1):
        whole = learning_rate(update, last, 1.0, config)
        assert learning_rate(update, last, 0.25, config) == pytest.approx(whole / 4)


def test_linear_decay_reaches_zero_after_the_last_update() -> None:
    config = TrainingConfig(learning_rate=1.0, decay="linear")
    assert [learning_rate(update, 4, 1.0, config) for update in range(1, 6)] == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])


def test_warm_up_reaches_the_rate() -> None:
    config = TrainingConfig(learning_rate=0.8, warmup_updates=4)
    rates = [learning_rate(update, 10, 1.0, config) for update in range(1, 6)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])
