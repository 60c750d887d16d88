"""How fast would a training be on 64 processes? Computed from what this machine measures of one.

Measured, with one thread: the seconds for the gradient of a shard of 80 and of one of 10 pairs, for the rest of an update
(norm, clipping and optimizer, which every process computes for itself), and for adding up gradients; and the bytes of dense
gradients and of the rows of embeddings.

Computed: processes on machines of this speed, each with a thread of its own, in a network in which everyone sends and
receives at once with so many bits a second, and a message takes 50 µs more. The exact reduction waits for the network, as it
does in the program: for each shard that a process computes, an exchange of all its dense gradients and a gathering of its
rows; after that, a gathering of the sum. Processes are as fast as each other; a real cluster has a slowest one.

Two ways to grow: 80 pairs for each process, so that the minibatch grows; and 640 pairs in 64 shards, whatever the number.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, seconds_alone, sized, write_speed
from benchmarks.lib.speed_text import SIZES, prepared_text, text_system, write_training_text
from benchmarks.lib.training import WITHOUT_END, Enough, trainer_of, watch

PROCESSES = (1, 2, 4, 8, 16, 32, 64)
GIGABITS = (1, 10, 100)
MESSAGE = 50e-6
"""Seconds that a message takes beside its bytes."""
SHARD = 80
"""Pairs of a shard where every process adds some; a tenth of a minibatch's 640 pairs in 64 shards has 10."""
SMALL_SHARD, SHARDS = 10, 64
WARM_UP = 2
"""Updates that compile, and take memory."""


@dataclass(frozen=True)
class Measured:
    """What one process needs for a shard, and for an update."""

    words: float
    """Target words in a shard."""
    gradient_seconds: float
    """For the gradient of a shard."""
    update_seconds: float
    """For what is left when the gradient is known."""
    dense_bytes: int
    """Of the gradients that travel whole."""
    row_bytes: float
    """Of the rows of embeddings that a shard has a gradient for."""
    add_bytes_per_second: float
    """Of gradients that are added to others."""


def seconds(measured: Measured, processes: int, shards: int, bytes_per_second: float) -> float:
    """The time of an update whose minibatch has so many shards, on so many processes."""
    rounds = -(-shards // processes)
    others = processes - 1
    exchange = measured.dense_bytes * others / processes / bytes_per_second + MESSAGE * others
    rows = measured.row_bytes * others / bytes_per_second + MESSAGE * others
    adding = shards * measured.dense_bytes / processes / measured.add_bytes_per_second if shards > 1 else 0.0
    return rounds * (measured.gradient_seconds + exchange + rows) + adding + exchange + measured.update_seconds


def measure(text: Path, size: str, pairs: int, updates: int) -> Measured:
    """Train some updates of so many pairs."""
    torch.set_num_threads(1)
    system, corpus = text_system(text, SIZES[size].config({**WITHOUT_END, "batch_size": pairs}))
    trainer = trainer_of(system, corpus)
    reduce, spent, rows, whole, counts, dense = trainer._reduce, [0.0], [0], [time.perf_counter()], [0], 0

    def timed(*arguments: Any) -> list[float]:
        nonlocal dense
        began = time.perf_counter()
        losses = reduce(*arguments)
        spent.append(time.perf_counter() - began)
        gradients = [parameter.grad for parameter in system.model.parameters() if parameter.grad is not None]
        rows.append(sum(gradient._values().nbytes for gradient in gradients if gradient.is_sparse))
        dense = sum(gradient.nbytes for gradient in gradients if not gradient.is_sparse)
        return losses

    def after(number: int, nll_per_word: float, words: int) -> None:
        whole.append(time.perf_counter())
        counts.append(words)
        if number == updates + WARM_UP:
            raise Enough

    trainer._reduce = timed  # type: ignore[assignment]
    watch(trainer, after)
    gradient = statistics.mean(spent[-updates:])
    one, other = torch.ones(dense // 4), torch.ones(dense // 4)
    return Measured(
        words=statistics.mean(counts[-updates:]),
        gradient_seconds=gradient,
        update_seconds=(whole[-1] - whole[-1 - updates]) / updates - gradient,
        dense_bytes=dense,
        row_bytes=statistics.mean(rows[-updates:]),
        add_bytes_per_second=dense / seconds_alone(lambda: one.add_(other)),
    )


def growth(measured: Measured, shards: Callable[[int], int]) -> dict[str, dict[int, dict[str, float]]]:
    """Words a second, and the share that is left of as many times the speed of one process."""
    alone = measured.words * shards(1) / seconds(measured, 1, shards(1), 1.0)
    found: dict[str, dict[int, dict[str, float]]] = {}
    for gigabits in GIGABITS:
        rows = found[f"{gigabits} Gbit/s"] = {}
        for processes in PROCESSES:
            took = seconds(measured, processes, shards(processes), gigabits * 1e9 / 8)
            speed = measured.words * shards(processes) / took
            rows[processes] = {"words_per_second": round(speed), "efficiency": round(speed / alone / processes, 3)}
    return found


def main() -> None:
    """Measure, compute, and write the record."""
    asked = Parser(__doc__, "data", "output", size=sized("small", "tiny"), updates=sized(12, 2)).parse_args()
    on, folder = machine(), asked.output.resolve() / "many-processes" / asked.size
    if not folder.exists():
        write_training_text(prepared_text(asked.data, asked.output.resolve()), SIZES[asked.size], sized(8000, 400), folder)
    large, small = (measure(folder, asked.size, pairs, asked.updates) for pairs in (SHARD, SMALL_SHARD))
    record = {
        "80 pairs a process": growth(large, lambda processes: processes),
        "640 pairs in 64 shards": growth(small, lambda processes: SHARDS),
    }
    for name, by_network in record.items():
        for network, rows in by_network.items():
            print(name, network, {processes: row["efficiency"] for processes, row in rows.items()})
    write_speed(
        f"scale/many_processes-{asked.size}",
        machine=on,
        message_seconds=MESSAGE,
        measured={"80 pairs": asdict(large), "10 pairs": asdict(small)},
        growth=record,
    )
