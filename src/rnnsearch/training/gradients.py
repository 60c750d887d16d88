"""The gradient of an update, summed over its shards, on one process or many.

A minibatch is cut into `training.shards` shards, whose gradients are computed one by one. The sum is taken in the order of
the shards, whoever computed them, so that its bits do not depend on the number of processes: process r of N computes the
shards r, r + N, r + 2N and so on. Of the parameters whose gradients are dense, laid end to end, each process adds up one
part: it receives this part of every shard's gradient, and sends the sum to all. So as many bytes travel as in the usual
all-reduce, if there is one shard for each process. Gradients of word embeddings travel as rows.
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
    """A part of a minibatch, whose gradient is computed alone."""

    batch: Batch
    seed: int | None
    """The seed of its dropout; None for a whole minibatch, which goes on with the random numbers of the run."""

    @contextlib.contextmanager
    def random(self) -> Iterator[None]:
        """A context in which the random numbers are those of the shard, on whichever process it is computed."""
        if self.seed is None:
            yield
            return
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            yield


def shards(batch: Batch, number: int, count: int, seed: int) -> list[Shard]:
    """Minibatch `number`, cut into `count` shards; those that would be empty are left out."""
    if count == 1:
        return [Shard(batch, None)]
    return [
        Shard(batch.part(k, count), Random(f"shard {k} of minibatch {number} of seed {seed}").getrandbits(63))
        for k in range(min(count, len(batch.source_BS)))
    ]


Backward = Callable[[nn.Module, Shard, float], float]
"""Adds the gradient of a shard, times a weight, to the parameters of a model, which it calls; returns the shard's loss."""


class Reduction(Protocol):
    """Sums the gradients of an update over its shards and processes."""

    def __call__(self, shards: Sequence[Shard], backward: Backward) -> list[float]:
        """Leave the sum in `.grad` of every parameter, on every process. Returns the losses of all shards."""
        ...


def reduction(model: RNNsearch, processes: Processes, config: TrainingConfig) -> Reduction:
    """The reduction that `training.reduction` names; one process needs none, and sums as `exact` does."""
    check_shards(config, processes.count)
    if config.reduction == "fast" and processes.count > 1:
        return FastReduction(model, processes)
    return ExactReduction(model, processes)


class ExactReduction:
    """The sum in the order of the shards: the same bits for any number of processes."""

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
            for E, parts in zip(self._by_rows, rows, strict=True):
                parts += _gather_rows(E, processes)[:present]
                E.grad = None
            if processes.count > 1:
                for part in processes.exchange(_flat(self._dense, processes.count))[:present]:
                    total = part.clone() if total is None else total.add_(part)
        if total is not None:
            _set_gradients(self._dense, processes.gather(total).flatten())
        for E, parts in zip(self._by_rows, rows, strict=True):
            E.grad = parts[0] if len(parts) == 1 else _end_to_end(parts)
        return processes.add(losses).tolist()


def _flat(parameters: Sequence[nn.Parameter], parts: int) -> Tensor:
    """The gradients end to end, cut into so many rows of one length; they are gone from the parameters then."""
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
    """The reverse of `_flat`."""
    start = 0
    for parameter in parameters:
        parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
        start += parameter.numel()


def _gather_rows(E: nn.Parameter, processes: Processes) -> list[Tensor]:
    """The sparse gradient of E in every process, each row once; without rows in a process where E has none."""
    ids, values = torch.zeros(0, dtype=torch.int64), E.detach()[:0]
    if E.grad is not None:
        mine = E.grad.coalesce()
        if processes.count == 1:
            return [mine]
        ids, values = mine.indices()[0], mine.values()
    counts = processes.gather(torch.tensor([len(ids)])).flatten().tolist()
    padding = max(counts) - len(ids)
    all_ids = processes.gather(nn.functional.pad(ids, (0, padding)))
    all_values = processes.gather(nn.functional.pad(values, (0, 0, 0, padding)))
    return [
        torch.sparse_coo_tensor(ids[None, :count], values[:count], E.shape, is_coalesced=True, check_invariants=False)
        for ids, values, count in zip(all_ids, all_values, counts, strict=True)
    ]


def _end_to_end(parts: Sequence[Tensor]) -> Tensor:
    """The sum of sparse gradients, which is taken, in this order, when it is coalesced."""
    return torch.sparse_coo_tensor(
        torch.cat([part.indices() for part in parts], 1),
        torch.cat([part.values() for part in parts]),
        parts[0].shape,
        check_invariants=False,
    )


class FastReduction:
    """PyTorch's own, `DistributedDataParallel`: buckets of dense gradients are added while the backward pass goes on.

    A minibatch has one shard for each process, and the order of the sum is gloo's or NCCL's: the bits depend on the number
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
            # All of them compute in every round; what one that has no shard left computes does not count.
            number, weight = (mine[turn], 1.0) if turn < len(mine) else (0, 0.0)
            with self._processes.reached(), contextlib.nullcontext() if turn == rounds - 1 else self._model.no_sync():
                loss = backward(self._model, shards[number], weight)
            if weight:
                losses[number] = loss
        for parameter in self._model.parameters():
            if parameter.grad is not None:
                parameter.grad.mul_(count)  # it is the mean
        return self._processes.add(losses).tolist()
