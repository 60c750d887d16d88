"""Checkpoints: one safetensors file with the whole state of a run, so that a resumed run gives the same weights bit for bit.

The tensors are `model/…`, `average/…`, `optimizer/<parameter>/…` and `random`, the state of the random number generator.
The header of the file holds the rest as JSON: the number of updates (and so the position in the corpus), the time spent,
the best score so far, and every validation.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from torch import Tensor

from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch
from rnnsearch.training.average import WeightAverage
from rnnsearch.training.optimizer import Optimizer
from rnnsearch.training.tensor_files import checksum, copy_weights, read_tensors, save_tensors

Count = Annotated[int, Field(ge=0, le=10**15)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Factor = Annotated[float, Field(ge=0, le=1)]


_ROW = ("update", "epoch", "hours", "train_nll", "valid_nll", "valid_nll_per_sentence", "valid_bleu", "learning_rate")


def _complete(row: dict[str, int | float]) -> dict[str, int | float]:
    """Return the row of a validation; raise ValueError if a column is missing or its update is not an integer."""
    missing = [name for name in _ROW if name not in row]
    if missing or not isinstance(row["update"], int):
        raise ValueError(f"no {', '.join(missing) or 'whole update'}")
    return row


@dataclass
class Progress:
    """The state of a run, except for its tensors. pydantic checks the values that are read from a checkpoint."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    update: Count = 0
    """The number of updates so far, including skipped ones; also the number of the next update, counted from 0."""
    seconds: Seconds = 0.0
    """Time spent in training, validation included, over all parts of an interrupted run."""
    target_words: Count = 0
    """The number of target words trained on so far, including end symbols."""
    skipped: Count = 0
    """The number of updates that were not applied because the gradient was not finite."""
    precision: Literal["", "fp32", "bf16"] = ""
    """The precision of matrix products so far, `fp32` or `bf16`; empty before the first update."""
    plateau_factor: Factor = 1.0
    """The factor by which `decay = plateau` has lowered the learning rate."""
    best_score: float | None = None
    best_update: Count = 0
    validations_without_gain: Count = 0
    interval_nll: Finite = 0.0
    """Training NLL summed since the last validation, over `interval_words` words."""
    interval_words: Count = 0
    interval_updates: Count = 0
    """The updates since the last validation, without skipped ones."""
    interval_norm: Finite = 0.0
    """The norm of the gradient before clipping, summed over the updates since the last validation."""
    interval_clipped: Count = 0
    """The number of updates since the last validation whose gradient was clipped."""
    validations: list[Annotated[dict[str, int | float], AfterValidator(_complete)]] = field(default_factory=list)
    """One row for each validation, with the columns that `training.json` has."""
    finished: str = ""
    """The reason why the run ended; empty while it has not ended."""


def save_checkpoint(
    path: Path,
    model: RNNsearch,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
    progress: Progress,
) -> None:
    """Write a checkpoint atomically: if this fails, the previous file stays."""
    tensors: dict[str, Tensor] = {"random": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random_cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        tensors[f"model/{name}"] = parameter.detach()
        if average:
            tensors[f"average/{name}"] = average.weights[name]
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer/{name}/{key}"] = value
    tensors = {key: tensor.cpu() for key, tensor in tensors.items()}
    metadata = {"progress": json.dumps(asdict(progress)), "optimizer": type(optimizer).__name__}
    save_tensors(path, tensors, metadata | {"crc32": checksum(tensors, *metadata.values())})


def continue_checkpoint(path: Path, to: Path) -> None:
    """Copy a checkpoint for another run that continues from it, with the count of validations without gain set to zero.

    The copy keeps the best score, so the other run replaces the best model only with a better one.
    """
    tensors, metadata = read_tensors(path)
    progress = json.loads(metadata["progress"]) | {"validations_without_gain": 0, "finished": ""}
    metadata = {"progress": json.dumps(progress), "optimizer": metadata["optimizer"]}
    save_tensors(to, tensors, metadata | {"crc32": checksum(tensors, *metadata.values())})


def load_checkpoint(path: Path, model: RNNsearch, optimizer: Optimizer, average: WeightAverage | None) -> Progress:
    """Restore the model, the optimizer, the average and the random state from a checkpoint, and return its progress.

    Raises RnnsearchError if the file is damaged, or does not fit the model or the settings.
    """
    tensors, metadata = read_tensors(path)
    try:
        stated, saved_optimizer = metadata["progress"], metadata["optimizer"]
        if "crc32" in metadata and metadata["crc32"] != checksum(tensors, stated, saved_optimizer):
            raise ValueError("its bytes are not those that were written")
        progress = TypeAdapter(Progress).validate_json(stated)
        random = tensors["random"]
        torch.Generator().set_state(random)  # a damaged state raises here, before anything is changed
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise RnnsearchError(f"{path}: not a checkpoint that this version can read ({reason})") from None
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
        shapes = {"step": torch.Size([]), "row_step": parameter.shape[:1]}
        shapes.update((key, parameter.shape) for key in optimizer.averages)
        fits = all(
            value.is_floating_point()
            and value.shape == shapes.get(key)
            # Except for the mean of the gradients (`exp_avg`), the state consists of means of squares and counts.
            and bool((value.isfinite() & ((value >= 0) | (key == "exp_avg"))).all())
            for key, value in state.items()
        )
        if state and not (fits and state.keys() >= shapes.keys() - {"row_step"}):
            raise RnnsearchError(f"{path}: the optimizer's state of {name} does not fit the model")
        if state:
            states[index] = state
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(random)
    if "random_cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random_cuda"])
    return progress
