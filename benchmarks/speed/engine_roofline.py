"""The time of a training step of each engine beside that of its matrix products alone, and its memory.

    python benchmarks/speed/engine_roofline.py --data DATA --output RUNS [--size full] [--rounds 3]

The roofline: the shapes of the matrix products of the engine `fused` are recorded while it trains on a real, length-varied
text; then each product is run alone, on operands in place, by the library that training uses. The same minibatches are
trained on in fp32, in separate processes; engines and roofline take turns. The rest of a step is attention, gates, softmax,
embeddings, clipping and the optimizer.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import Run, machine, seconds_alone, sized, undisturbed, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, prepared_text, text_system, write_training_text
from benchmarks.lib.training import Update, train, train_apart
from rnnsearch.ops import fast_products

ENGINES = ("reference", "fused")
LONG = 50
"""Words on both sides, where memory is measured."""
FACTORS = {"mm": 0, "bmm": 0, "mv": 0, "addmm": 1, "addmm_": 1, "baddbmm": 1, "baddbmm_": 1, "addmv": 1, "addmv_": 1}
"""Products, by name, and which argument is the first factor: the second follows."""


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        """That of a tensor."""
        return cls(tuple(tensor.shape), tuple(tensor.stride()))

    def random(self) -> Tensor:
        """A tensor that lies so."""
        size = 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        return torch.randn(size).as_strided(self.shape, self.strides)


@dataclass(frozen=True)
class Product:
    """A matrix product: (batch of) matrix by matrix, or matrix by vector."""

    first: Layout
    second: Layout

    @property
    def flop(self) -> int:
        """Multiplications and additions."""
        return 2 * math.prod(self.first.shape) * (self.second.shape[-1] if len(self.second.shape) > 1 else 1)

    def seconds(self) -> float:
        """What it takes alone: the median of some runs."""
        a, b = self.first.random(), self.second.random()
        out = torch.matmul(a, b)
        return seconds_alone(lambda: torch.matmul(a, b, out=out))


class Products(TorchDispatchMode):
    """Counts the products that are computed within it."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: Counter[Product] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        name = func.__name__.split(".")[0]
        if name in FACTORS:
            a, b = args[FACTORS[name] : FACTORS[name] + 2]
            if a.numel() and b.numel():
                self.counted[Product(Layout.of(a), Layout.of(b))] += 1
        return func(*args, **(kwargs or {}))

    def seconds(self) -> float:
        """All of them, run alone."""
        with fast_products(), torch.inference_mode():
            return sum(times * product.seconds() for product, times in self.counted.items())


def main() -> None:
    """Engines and roofline, round after round; then the memory."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--size", choices=SIZES, default=sized("full", "tiny"))
    parser.add_argument("--updates", type=int, default=sized(6, 2), help=f"minibatches of {BATCH} pairs in the text")
    parser.add_speed(rounds=sized(3, 1))
    arguments = parser.parse_args()

    on = machine()
    torch.set_num_threads(arguments.threads)
    folder = arguments.output.resolve() / "engine-roofline" / arguments.size
    size, updates = SIZES[arguments.size], arguments.updates
    write_training_text(prepared_text(arguments.data, arguments.output.resolve()), size, BATCH * updates, folder)

    system, corpus = text_system(folder, size.config({"pool_batches": updates, "engine": "fused"}))
    with Products() as products:
        train(system, corpus, updates)
    del system

    def steps(engine: str) -> list[Update]:
        # The second time through the text counts.
        text = ["--text", folder, "--size", arguments.size, "--updates", 2 * updates]
        settings = [f"--set=training.pool_batches={updates}", f"--set=training.engine={engine}"]
        return train_apart([*text, *settings], arguments.threads)[0][updates:]

    runs: dict[str, list[Run[list[Update]]]] = {engine: [] for engine in ENGINES}
    roofline: list[Run[float]] = []
    for number in range(arguments.rounds):
        roofline.append(undisturbed(products.seconds, arguments.background))
        print(f"round {number + 1}: products alone: {roofline[-1].found:.2f} s", flush=True)
        for engine, of_engine in runs.items():
            of_engine.append(undisturbed(partial(steps, engine), arguments.background))
            print(f"round {number + 1}: {engine}: {_seconds(of_engine[-1]):.2f} s", flush=True)

    alone = statistics.median(run.found for run in roofline)
    flop = sum(times * product.flop for product, times in products.counted.items())
    engines = {
        engine: {
            "target_words_per_second": round(_words(of_engine[0]) / statistics.median(map(_seconds, of_engine)), 1),
            "share_of_roofline": round(alone / statistics.median(map(_seconds, of_engine)), 4),
            "share_after_gradient": round(statistics.median(map(_share_after_gradient, of_engine)), 4),
            "peak_megabytes": _peak(engine, arguments.size, arguments.threads),
            "runs": [{"seconds": round(_seconds(run), 3), **run.load()} for run in of_engine],
        }
        for engine, of_engine in runs.items()
    }
    write_speed(
        f"speed/engine_roofline-{arguments.size}",
        machine=on,
        rows=_rows(arguments.size, engines),
        threads=arguments.threads,
        updates=updates,
        roofline={
            "seconds": round(alone, 3),
            "gigaflop": round(flop / 1e9),
            "gigaflop_per_second": round(flop / 1e9 / alone),
            "distinct_products": len(products.counted),
            "runs": [{"seconds": round(run.found, 3), **run.load()} for run in roofline],
        },
        engines=engines,
    )


def _peak(engine: str, size: str, threads: int) -> int:
    """The largest resident memory, in MB, of a process that trains on sentences of `LONG` words."""
    return train_apart(["--words", LONG, "--size", size, "--updates", 3, f"--set=training.engine={engine}"], threads)[1]


def _seconds(run: Run[list[Update]]) -> float:
    return sum(update.seconds for update in run.found)


def _words(run: Run[list[Update]]) -> int:
    return sum(update.words for update in run.found)


def _share_after_gradient(run: Run[list[Update]]) -> float:
    return sum(update.seconds_after_gradient for update in run.found) / _seconds(run)


def _rows(size: str, engines: dict[str, dict[str, Any]]) -> list[dict[str, object]]:
    """Rows of the table for the fastest engine."""
    name, best = max(engines.items(), key=lambda item: item[1]["target_words_per_second"])
    found = (
        ("products alone, share of the training step", round(100 * best["share_of_roofline"], 1), "%"),
        ("optimizer and clipping, share of the training step", round(100 * best["share_after_gradient"], 1), "%"),
        (f"peak memory of training, {BATCH} pairs of {LONG} words", round(best["peak_megabytes"] / 1000, 2), "GB"),
    )
    where = f"{size} size, fp32, `{name}`"
    return [{"what": f"{what}, {where}", "unit": unit, "ours": value, "peers": {}} for what, value, unit in found]


if __name__ == "__main__":
    main()
