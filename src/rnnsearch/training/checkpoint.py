"""Checkpoints: one safetensors file with the whole state of a run, so that a resumed run is the same bit for bit.

Tensors: `model/…`, `average/…`, `optimizer/<parameter>/…`, `random`. Its header holds the rest, as JSON: where the run was
in the corpus, how long it has taken, the best score so far, every validation.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch
from rnnsearch.model_folder import copy_weights, read_tensors
from rnnsearch.training.average import WeightAverage


@dataclass
class Progress:
    """The state of a run, except for its tensors."""

    update: int = 0
    """Updates so far, skipped ones included; also the number of the next minibatch."""
    seconds: float = 0.0
    """Time spent in training, validation included, over all parts of an interrupted run."""
    target_words: int = 0
    """Target words read so far, end symbols included."""
    skipped: int = 0
    """Updates that were not applied because the gradient was not finite."""
    precision: str = ""
    """The precision of matrix products so far, `fp32` or `bf16`; empty before the first update."""
    plateau_factor: float = 1.0
    """The factor by which `decay = plateau` has lowered the learning rate."""
    best_score: float | None = None
    best_update: int = 0
    validations_without_gain: int = 0
    interval_nll: float = 0.0
    """Training NLL summed since the last validation, over `interval_words` words."""
    interval_words: int = 0
    validations: list[dict[str, Any]] = field(default_factory=list)
    """One row a validation, as `training.json` shows them."""
    finished: str = ""
    """Why the run ended, once it has."""


def save_checkpoint(
    path: Path,
    model: RNNsearch,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
    progress: Progress,
) -> None:
    """Write a checkpoint, whole or not at all."""
    tensors: dict[str, Tensor] = {"random": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random_cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        tensors[f"model/{name}"] = parameter.detach()
        if average:
            tensors[f"average/{name}"] = average.weights[name]
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer/{name}/{key}"] = value
    with atomic_write(path) as temporary:
        save_file(
            {key: tensor.cpu().contiguous() for key, tensor in tensors.items()},
            temporary,
            metadata={"progress": json.dumps(asdict(progress)), "optimizer": type(optimizer).__name__},
        )


def load_checkpoint(
    path: Path, model: RNNsearch, optimizer: torch.optim.Optimizer, average: WeightAverage | None
) -> Progress:
    """Restore model, optimizer, average and random state from a checkpoint, and return the progress."""
    tensors = read_tensors(path)
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata()
        progress = Progress(**json.loads(metadata["progress"]))
        saved_optimizer = metadata["optimizer"]
        random = tensors["random"]
        torch.Generator().set_state(random)  # a damaged state raises here, before anything is changed
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise RnnsearchError(f"{path}: not a checkpoint that this version can read ({error!r})") from None
    if saved_optimizer != type(optimizer).__name__:
        raise RnnsearchError(
            f"{path}: the run's optimizer is {saved_optimizer}; training.optimizer cannot be changed when a run goes on"
        )
    if average and not any(key.startswith("average/") for key in tensors):
        raise RnnsearchError(
            f"{path}: the run has no averaged weights; training.weight_average cannot be set when a run goes on"
        )
    for part in ("average", "model") if average else ("model",):
        weights = {key.removeprefix(f"{part}/"): value for key, value in tensors.items() if key.startswith(f"{part}/")}
        with average.in_use() if average and part == "average" else contextlib.nullcontext():
            copy_weights(path, weights, model)

    states: dict[int, dict[str, Tensor]] = {}
    for index, (name, parameter) in enumerate(model.named_parameters()):
        prefix = f"optimizer/{name}/"
        state = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        if any(value.shape not in (parameter.shape, parameter.shape[:1], torch.Size([])) for value in state.values()):
            raise RnnsearchError(f"{path}: the optimizer's state of {name} does not fit the model")
        if state:
            states[index] = state
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(random)
    if "random_cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random_cuda"])
    return progress
