"""Adadelta as Zeiler wrote it down, and the learning rate's schedule."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import TrainingConfig
from rnnsearch.training.optimizer import learning_rate, make_optimizer


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
