"""The optimizer and its learning rate."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from rnnsearch.config import TrainingConfig


def make_optimizer(parameters: Iterable[nn.Parameter], config: TrainingConfig) -> torch.optim.Optimizer:
    """Adadelta (Zeiler 2012; the paper's, with its ρ and ε) or Adam (Kingma & Ba 2015)."""
    if config.optimizer == "adadelta":
        return torch.optim.Adadelta(
            parameters, lr=config.learning_rate, rho=config.adadelta_rho, eps=config.adadelta_epsilon
        )
    return torch.optim.Adam(parameters, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def learning_rate(update: int, last_update: int, plateau_factor: float, config: TrainingConfig) -> float:
    """The step size of the given update (from 1), where the run is planned to end with `last_update`."""
    rate = config.learning_rate * plateau_factor
    if update < config.warmup_updates:
        return rate * update / config.warmup_updates
    if config.decay == "linear":
        return rate * max(0.0, (last_update + 1 - update) / max(1, last_update + 1 - config.warmup_updates))
    return rate
