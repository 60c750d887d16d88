"""The time of a training step of each engine beside that of its matrix products alone, and its memory.

The roofline: the shapes of the matrix products of the engine `fused` are recorded while it trains on a real, length-varied
text; then each product is run alone, on operands in place, by the library that training uses. The same minibatches are
trained on in fp32, in separate processes; engines and roofline take turns. The rest of a step is attention, gates, softmax,
embeddings, clipping and the optimizer.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.lib.command import SPEED, Parser
from benchmarks.lib.record import in_rounds, machine, seconds_alone, sized, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, prepared_text, text_system, write_training_text
from benchmarks.lib.training import Update, train, train_apart
from rnnsearch.ops import fast_products

ENGINES, ALONE = ("reference", "fused"), "products alone"
UPDATES = sized(6, 2)
"""Minibatches in the text."""
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


class Took(NamedTuple):
    """What some updates of training took, or their products alone."""

    seconds: float
    words: int = 0
    share_after_gradient: float = 0.0

    @classmethod
    def of(cls, updates: list[Update]) -> Took:
        """That of these updates."""
        seconds = sum(update.seconds for update in updates)
        return cls(
            seconds,
            sum(update.words for update in updates),
            sum(update.seconds_after_gradient for update in updates) / seconds,
        )


def main() -> None:
    """Engines and roofline, round after round; then the memory."""
    arguments = Parser(__doc__, "data", "output", *SPEED, size=sized("full", "tiny"), rounds=sized(3, 1)).parse_args()

    on = machine()
    torch.set_num_threads(arguments.threads)
    folder = arguments.output.resolve() / "engine-roofline" / arguments.size
    size, updates = SIZES[arguments.size], UPDATES
    write_training_text(prepared_text(arguments.data, arguments.output.resolve()), size, BATCH * updates, folder)

    system, corpus = text_system(folder, size.config({"pool_batches": updates, "engine": "fused"}))
    with Products() as products:
        train(system, corpus, updates)
    del system

    def measure(way: str, _: int) -> Took:
        if way == ALONE:
            return Took(products.seconds())
        # The second time through the text counts.
        text = ["--text", folder, "--size", arguments.size, "--updates", 2 * updates]
        settings = [f"--set=training.pool_batches={updates}", f"--set=training.engine={way}"]
        return Took.of(train_apart([*text, *settings], arguments.threads)[0][updates:])

    runs = in_rounds(
        (ALONE, *ENGINES), measure, arguments.rounds, arguments.background, lambda _, took: f"{took.seconds:.2f} s"
    )
    medians = runs.medians(lambda took: took.seconds)
    records = runs.rows(lambda took: {"seconds": round(took.seconds, 3)})
    after_gradient = runs.medians(lambda took: took.share_after_gradient)
    alone = medians[ALONE]
    flop = sum(times * product.flop for product, times in products.counted.items())
    engines = {
        engine: {
            "target_words_per_second": round(runs[engine][0].found.words / medians[engine], 1),
            "share_of_roofline": round(alone / medians[engine], 4),
            "share_after_gradient": round(after_gradient[engine], 4),
            "peak_megabytes": peak_of_long_sentences(engine, arguments.size, arguments.threads),
            "runs": records[engine],
        }
        for engine in ENGINES
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
            "runs": records[ALONE],
        },
        engines=engines,
    )


def peak_of_long_sentences(engine: str, size: str, threads: int) -> int:
    """The largest resident memory, in MB, of a process that trains on sentences of `LONG` words."""
    return train_apart(["--words", LONG, "--size", size, "--updates", 3, f"--set=training.engine={engine}"], threads)[1]


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
