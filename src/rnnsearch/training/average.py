"""Averages of weights: an averaged model translates better than the models that it is made of.

`WeightAverage` is a moving average over one training (Polyak & Juditsky 1992; in the form of Marian, Junczys-Dowmunt et al.
2018). `average_models` takes the mean of models that share an ancestor: checkpoints of one training, or models that were
trained further on different text (Wortsman et al. 2022).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import check_single, load_systems, save_settings, save_weights


class WeightAverage:
    """w̄ ← w̄ + (1 − decay) (w − w̄), once an update."""

    EVERY = 5
    """The average is brought up to date once in so many updates, between which the weights hardly change."""

    def __init__(self, model: RNNsearch, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.weights: dict[str, Tensor] = {
            name: parameter.detach().clone() for name, parameter in model.named_parameters()
        }

    @torch.no_grad()
    def updated(self, update: int) -> None:
        """Take in the weights after the given update (from 1)."""
        if update < self.EVERY:
            torch._foreach_copy_(list(self.weights.values()), list(self.model.parameters()))
        elif update % self.EVERY == 0:
            # A young average forgets faster, or it would remember the random weights that training began with.
            decay = min(self.decay, (1 + update) / (10 + update))
            torch._foreach_lerp_(list(self.weights.values()), list(self.model.parameters()), 1 - decay**self.EVERY)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """A context in which the model has the averaged weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.data, self.weights[name] = self.weights[name], parameter.data


@torch.no_grad()
def average_models(folders: Sequence[Path], output: Path) -> None:
    """Write a model whose weights are the mean of those of the models in `folders`; its settings are the first one's.

    Raises RnnsearchError where the models differ in `model.*`, vocabularies or direction, or `output` is a model already.
    """
    if (output / WEIGHTS).exists():
        raise RnnsearchError(f"{output}: there is a model in it already; give another --output")
    for folder in folders:
        check_single(folder)
    (first,), *further = load_systems(folders)
    others = [system for (system,) in further]
    for folder, other in zip(folders[1:], others, strict=True):
        if other.config.model != first.config.model:
            raise RnnsearchError(f"{folder}: its settings model.* are not those of {folders[0]}: their weights have no mean")
        if other.config.data.right_to_left != first.config.data.right_to_left:
            raise RnnsearchError(f"{folder}: its data.right_to_left is not that of {folders[0]}: their weights have no mean")
    parameters = [dict(system.model.named_parameters()) for system in (first, *others)]
    for name, mean in parameters[0].items():
        mean.copy_(torch.stack([weights[name].double() for weights in parameters]).mean(0))
    save_settings(output, first)
    save_weights(output / WEIGHTS, first)
