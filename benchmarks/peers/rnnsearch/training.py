"""Training steps of ours, one JSON line each on standard output: our contestant in the speed benchmarks.

It is `rnnsearch.training.trainer.Trainer` that trains: reading the minibatch, cost, gradient, clipping, optimizer.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import peak_megabytes
from benchmarks.lib.speed_text import BATCH, SIZES, environment, text_system, uniform_system
from rnnsearch.config import parse_assignments
from rnnsearch.data.batches import BatchStream
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.model_folder import System
from rnnsearch.training.checkpoint import Progress
from rnnsearch.training.trainer import Trainer
from rnnsearch.training.validation import DevelopmentSet


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


class _Enough(Exception):
    """The updates are done; what follows in a training, validation and a checkpoint, is not timed."""


class _Stopwatch:
    """A `Listener` that notes the time of every update."""

    def __init__(self, updates: int, listener: Callable[[Update], None]) -> None:
        self.gradient_at = self.before = time.perf_counter()
        self._updates, self._listener = updates, listener

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        now = time.perf_counter()
        self._listener(Update(progress.update, words, now - self.before, now - self.gradient_at))
        self.before = time.perf_counter()
        if progress.update == self._updates:
            raise _Enough

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """There is no validation."""

    def notice(self, text: str) -> None:
        print(text, file=sys.stderr)


def train(
    system: System,
    corpus: PackedCorpus,
    updates: int,
    listener: Callable[[Update], None] = lambda update: None,
    batches: BatchStream | None = None,
) -> list[Update]:
    """Train for so many updates, on minibatches of `batches` if they are given, and tell how long each took."""
    done: list[Update] = []

    def note(update: Update) -> None:
        done.append(update)
        listener(update)

    trainer = Trainer(system, corpus, DevelopmentSet([], []), Path())
    if batches is not None:
        trainer.batches = batches
    stopwatch = _Stopwatch(updates, note)
    with contextlib.suppress(_Enough), _noting_gradients(stopwatch):
        trainer.run(stopwatch)
    return done


def train_apart(arguments: list[object], threads: int) -> tuple[list[Update], int]:
    """Train in a process of its own, which is given the arguments of this script: its updates, and its peak memory in MB."""
    command = [sys.executable, __file__, *map(str, arguments)]
    written = subprocess.run(command, env=environment(threads), stdout=subprocess.PIPE, text=True, check=True).stdout
    *updates, end = map(json.loads, written.splitlines())
    return [Update(**update) for update in updates], end["peak_megabytes"]


@contextlib.contextmanager
def _noting_gradients(stopwatch: _Stopwatch) -> Iterator[None]:
    """Within it, the stopwatch knows when the last gradient was complete."""
    backward = torch.autograd.backward

    def noted(*arguments: Any, **settings: Any) -> None:
        backward(*arguments, **settings)
        stopwatch.gradient_at = time.perf_counter()

    torch.autograd.backward = noted
    try:
        yield
    finally:
        torch.autograd.backward = backward


def main() -> None:
    """Train, and print a line after every update and one at the end."""
    parser = Parser(__doc__)
    parser.add_argument("--text", type=Path, help="a folder that `speed_text` wrote")
    parser.add_argument("--words", type=int, help="in place of a text, random sentences of so many words")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--updates", type=int, required=True)
    parser.add_argument("--set", action="append", metavar="KEY=VALUE", help="a setting of training")
    arguments = parser.parse_args()

    size = SIZES[arguments.size]
    config = size.config(parse_assignments(arguments.set or []).get("training"))
    with tempfile.TemporaryDirectory() as folder:
        if arguments.text is None:
            pairs = BATCH * arguments.updates
            system, corpus = uniform_system(Path(folder), config, arguments.words, size.words, pairs)
        else:
            system, corpus = text_system(arguments.text, config)
        train(system, corpus, arguments.updates, lambda update: print(json.dumps(asdict(update)), flush=True))
    print(json.dumps({"peak_megabytes": peak_megabytes()}), flush=True)


if __name__ == "__main__":
    main()
