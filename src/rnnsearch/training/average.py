"""An exponential moving average of the weights: it translates better than the weights that training ends with.

Polyak & Juditsky (1992); in this form Marian's (Junczys-Dowmunt et al. 2018).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

from rnnsearch.model import RNNsearch


class WeightAverage:
    """w̄ ← w̄ + (1 − decay) (w − w̄), once an update."""

    EVERY = 5
    """One pass over the weights stands for so many updates: they hardly move in between."""

    def __init__(self, model: RNNsearch, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.weights: dict[str, Tensor] = {
            name: parameter.detach().clone() for name, parameter in model.named_parameters()
        }

    @torch.no_grad()
    def updated(self, update: int) -> None:
        """Take in the weights after the given update (from 1)."""
        if update % self.EVERY == 0:
            # A young average forgets faster, or it would remember the random weights that training began with.
            decay = min(self.decay, (1 + update) / (10 + update))
            torch._foreach_lerp_(list(self.weights.values()), list(self.model.parameters()), 1 - decay**self.EVERY)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Within it the model has the averaged weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.data, self.weights[name] = self.weights[name], parameter.data
