"""Training steps that are watched: `rnnsearch.training.trainer.Trainer` trains until what was to be seen has been seen."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.lib.command import environment
from rnnsearch.data.batches import BatchStream
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.system import System
from rnnsearch.training.checkpoint import Progress
from rnnsearch.training.processes import Processes
from rnnsearch.training.trainer import Trainer
from rnnsearch.training.validation import DevelopmentSet

WITHOUT_END: dict[str, object] = dict.fromkeys(("max_updates", "validate_every", "checkpoint_every"), 10**9)
"""Settings of a training that goes on until it is stopped."""
SCRIPT = Path(__file__).parents[1] / "peers" / "rnnsearch" / "training.py"


class Enough(Exception):
    """What was to be seen has been seen; validation and checkpoint, which would follow, are not measured."""


class _Watch:
    """A `Listener` that calls a function after every update, with its number, NLL a word, and target words."""

    def __init__(self, after: Callable[[int, float, int], object]) -> None:
        self._after = after

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        self._after(progress.update, nll_per_word, words)

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """There is no validation."""

    def notice(self, text: str) -> None:
        print(text, file=sys.stderr)


def trainer_of(system: System, corpus: PackedCorpus, processes: Processes | None = None) -> Trainer:
    """A trainer without a development set."""
    return Trainer(system, corpus, DevelopmentSet([], []), Path(), processes=processes)


def watch(trainer: Trainer, after: Callable[[int, float, int], object]) -> None:
    """Train, and call `after` with the number, NLL a word and target words of every update, until it raises `Enough`."""
    with contextlib.suppress(Enough):
        trainer.run(_Watch(after))


@dataclass(frozen=True)
class Update:
    """One training step."""

    update: int
    """Its number, from 1."""
    words: int
    """Target words, end symbols counted, padding not."""
    seconds: float
    """Since the update before it."""
    seconds_after_gradient: float
    """Of these, after the gradient was there: clipping and the optimizer."""


def train(
    system: System,
    corpus: PackedCorpus,
    updates: int,
    listener: Callable[[Update], object] = lambda update: None,
    batches: BatchStream | None = None,
) -> list[Update]:
    """Train for so many updates, on minibatches of `batches` if they are given, and tell how long each took."""
    done: list[Update] = []
    trainer = trainer_of(system, corpus)
    if batches is not None:
        trainer.batches = batches
    before = time.perf_counter()

    def after(number: int, nll_per_word: float, words: int) -> None:
        nonlocal before
        now = time.perf_counter()
        done.append(Update(number, words, now - before, now - gradients[-1]))
        listener(done[-1])
        before = time.perf_counter()
        if number == updates:
            raise Enough

    with _noted_gradients() as gradients:
        watch(trainer, after)
    return done


@contextlib.contextmanager
def _noted_gradients() -> Iterator[list[float]]:
    """Within it, the times at which gradients were complete are noted."""
    backward, times = torch.autograd.backward, [time.perf_counter()]

    def noted(*arguments: Any, **settings: Any) -> None:
        backward(*arguments, **settings)
        times.append(time.perf_counter())

    torch.autograd.backward = noted
    try:
        yield times
    finally:
        torch.autograd.backward = backward


def train_apart(arguments: list[object], threads: int) -> tuple[list[Update], int]:
    """Train by `peers/rnnsearch/training.py` with these arguments: the updates, and the peak memory of the process in MB."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    written = subprocess.run(command, env=environment(threads), stdout=subprocess.PIPE, text=True, check=True).stdout
    *updates, end = map(json.loads, written.splitlines())
    return [Update(**update) for update in updates], end["peak_megabytes"]
