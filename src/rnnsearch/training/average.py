"""Averages of weights: a model with averaged weights translates better than the models whose weights are averaged.

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
    """The exponential moving average w̄ of the weights w: w̄ ← w̄ + (1 − decay) (w − w̄) for each update."""

    EVERY = 5
    """The average is computed once in this many updates, because the weights hardly change between them."""

    def __init__(self, model: RNNsearch, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.weights: dict[str, Tensor] = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

    @torch.no_grad()
    def updated(self, update: int) -> None:
        """Add the present weights to the average; `update`, counted from 1, is the number of the last update."""
        if update < self.EVERY:
            torch._foreach_copy_(list(self.weights.values()), list(self.model.parameters()))
        elif update % self.EVERY == 0:
            # Early in the training the decay is smaller; otherwise the random initial weights would dominate the average.
            decay = min(self.decay, (1 + update) / (10 + update))
            torch._foreach_lerp_(list(self.weights.values()), list(self.model.parameters()), 1 - decay**self.EVERY)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Return a context in which the averaged weights replace those of the model."""
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
    """Write to `output` a model whose weights are the mean of those of the models in `folders`.

    Its settings are those of the first model. Raises RnnsearchError if the models differ in `model.*`, in their
    vocabularies or in `data.right_to_left`, or if `output` already contains a model.
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
