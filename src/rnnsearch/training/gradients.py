"""The gradient of an update: the sum of the gradients of its shards, computed by one process or by several.

A minibatch is cut into `training.shards` shards, whose gradients are computed one by one: process r of N computes the shards
r, r + N, r + 2N and so on. The gradients are always added in the order of the shards, so that the bits of the sum do not
depend on the number of processes. The dense gradients are concatenated into one vector, which is cut into N parts. Each
process receives its part of the vector of every shard, adds these up, and sends the sum to all processes. If there is one
shard for each process, this sends as many bytes as the usual all-reduce. For word embeddings, which have sparse gradients,
only the rows that are not zero are sent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from rnnsearch.config import TrainingConfig
from rnnsearch.data.batches import Batch
from rnnsearch.model import RNNsearch
from rnnsearch.training.processes import Processes, check_shards


@dataclass(frozen=True)
class Shard:
    """A part of a minibatch whose gradient is computed separately."""

    batch: Batch
    seed: int | None
    """The seed of its dropout; None for a whole minibatch, whose dropout uses the random number generator of the run."""

    @contextlib.contextmanager
    def random(self) -> Iterator[None]:
        """Return a context in which random numbers depend only on the seed of the shard, not on the process."""
        if self.seed is None:
            yield
            return
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            yield


def shards(batch: Batch, number: int, count: int, seed: int) -> list[Shard]:
    """Cut minibatch `number` into `count` shards, or into one for each sentence if it has fewer sentences."""
    if count == 1:
        return [Shard(batch, None)]
    return [
        Shard(batch.part(k, count), Random(f"shard {k} of minibatch {number} of seed {seed}").getrandbits(63))
        for k in range(min(count, len(batch.source_BS)))
    ]


Backward = Callable[[nn.Module, Shard, float], float]
"""A function of a model, a shard and a weight: it runs the model on the shard, adds the weighted gradient to `.grad` of the
model's parameters, and returns the loss of the shard."""


class Reduction(Protocol):
    """A callable that sums the gradients of the shards of an update over all processes."""

    def __call__(self, shards: Sequence[Shard], backward: Backward) -> list[float]:
        """Set `.grad` of every parameter to the sum, in every process, and return the losses of all shards."""
        ...


def reduction(model: RNNsearch, processes: Processes, config: TrainingConfig) -> Reduction:
    """Return the reduction that `training.reduction` names; for a single process, always `ExactReduction`."""
    check_shards(config, processes.count)
    if config.reduction == "fast" and processes.count > 1:
        return FastReduction(model, processes)
    return ExactReduction(model, processes)


class ExactReduction:
    """A reduction that adds gradients in the order of the shards, which gives the same bits for any number of processes."""

    def __init__(self, model: RNNsearch, processes: Processes) -> None:
        self._model = model
        self._processes = processes
        self._by_rows = model.embeddings_with_sparse_gradients
        rows = {id(E) for E in self._by_rows}
        self._dense = [parameter for parameter in model.parameters() if id(parameter) not in rows]

    def __call__(self, shards: Sequence[Shard], backward: Backward) -> list[float]:
        """See `Reduction`."""
        processes = self._processes
        losses = torch.zeros(len(shards), dtype=torch.float64)
        rows: list[list[Tensor]] = [[] for _ in self._by_rows]
        total: Tensor | None = None
        for first in range(0, len(shards), processes.count):
            number, present = first + processes.rank, min(processes.count, len(shards) - first)
            if number < len(shards):
                losses[number] = backward(self._model, shards[number], 1.0)
            # The last round may have fewer shards than processes: only the first `present` gradients count.
            for E, parts in zip(self._by_rows, rows, strict=True):
                parts += _gather_rows(E, processes)[:present]
                E.grad = None
            if processes.count > 1:
                # `total` is the sum of this process's part of the dense gradients of all shards so far.
                for part in processes.exchange(_flat(self._dense, processes.count))[:present]:
                    total = part.clone() if total is None else total.add_(part)
        if total is not None:
            _set_gradients(self._dense, processes.gather(total).flatten())
        for E, parts in zip(self._by_rows, rows, strict=True):
            E.grad = parts[0] if len(parts) == 1 else _uncoalesced_sum(parts)
        return processes.add(losses).tolist()


def _flat(parameters: Sequence[nn.Parameter], parts: int) -> Tensor:
    """Concatenate the gradients into a matrix with `parts` rows, padded with zeros, and remove them from the parameters."""
    size = -(-sum(parameter.numel() for parameter in parameters) // parts)
    flat = parameters[0].new_zeros(parts * size)
    start = 0
    for parameter in parameters:
        if parameter.grad is not None:
            flat[start : start + parameter.numel()] = parameter.grad.flatten()
            parameter.grad = None
        start += parameter.numel()
    return flat.view(parts, size)


def _set_gradients(parameters: Sequence[nn.Parameter], flat: Tensor) -> None:
    """Set the gradients of the parameters to views of a vector that `_flat` concatenated."""
    start = 0
    for parameter in parameters:
        parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
        start += parameter.numel()


def _gather_rows(E: nn.Parameter, processes: Processes) -> list[Tensor]:
    """Return the coalesced sparse gradient of E in each process; it has no rows where E has no gradient."""
    ids, values = torch.zeros(0, dtype=torch.int64), E.detach()[:0]
    if E.grad is not None:
        mine = E.grad.coalesce()
        if processes.count == 1:
            return [mine]
        ids, values = mine.indices()[0], mine.values()
    # All processes must send tensors of one shape, so the rows are padded to the largest number of rows.
    counts = processes.gather(torch.tensor([len(ids)])).flatten().tolist()
    padding = max(counts) - len(ids)
    all_ids = processes.gather(nn.functional.pad(ids, (0, padding)))
    all_values = processes.gather(nn.functional.pad(values, (0, 0, 0, padding)))
    return [
        torch.sparse_coo_tensor(ids[None, :count], values[:count], E.shape, is_coalesced=True, check_invariants=False)
        for ids, values, count in zip(all_ids, all_values, counts, strict=True)
    ]


def _uncoalesced_sum(parts: Sequence[Tensor]) -> Tensor:
    """Return the sum of sparse gradients as one uncoalesced tensor; coalescing it adds the rows in this order."""
    return torch.sparse_coo_tensor(
        torch.cat([part.indices() for part in parts], 1),
        torch.cat([part.values() for part in parts]),
        parts[0].shape,
        check_invariants=False,
    )


class FastReduction:
    """PyTorch's `DistributedDataParallel`, which adds buckets of dense gradients during the backward pass.

    A minibatch has one shard for each process. gloo or NCCL decides the order of the sum, so its bits depend on the number
    of processes.
    """

    def __init__(self, model: RNNsearch, processes: Processes) -> None:
        model.sparse_gradients(False)
        self._model = DistributedDataParallel(model, gradient_as_bucket_view=True)
        self._processes = processes

    def __call__(self, shards: Sequence[Shard], backward: Backward) -> list[float]:
        """See `Reduction`."""
        count = self._processes.count
        losses = torch.zeros(len(shards), dtype=torch.float64)
        mine = range(self._processes.rank, len(shards), count)
        rounds = -(-len(shards) // count)
        for turn in range(rounds):
            # Every process has to compute in every round; one that has no shard left computes shard 0 with weight 0.
            number, weight = (mine[turn], 1.0) if turn < len(mine) else (0, 0.0)
            with self._processes.reached(), contextlib.nullcontext() if turn == rounds - 1 else self._model.no_sync():
                loss = backward(self._model, shards[number], weight)
            if weight:
                losses[number] = loss
        for parameter in self._model.parameters():
            if parameter.grad is not None:
                parameter.grad.mul_(count)  # DistributedDataParallel gives the mean over the processes
        return self._processes.add(losses).tolist()
