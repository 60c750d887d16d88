"""The gain of each part of fast search: sentences a second of the plain backend, exact, int8, and vocabulary selection.

    python benchmarks/speed/decoding.py [--size full] [--threads 2]

The weights are random, and every sentence takes the same number of steps: none ends before it has as many words as its
source, so every step has all hypotheses of the beam. `translation_speed.py` measures real sentences, beside the peers.

The roofline of exact search: its matrix products are recorded while it translates, then run again alone, with the weights in
the same layout. The rest of the time of search is attention, gates, the selection of words and the interpreter.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import Run, machine, seconds_alone, sized, undisturbed, write_speed
from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.model import RNNsearch
from rnnsearch.search.backend import Backend
from rnnsearch.search.beam import beam_search
from rnnsearch.search.fast import FastBackend
from rnnsearch.search.plain import PlainBackend
from rnnsearch.text.vocabulary import END

SIZES = {
    "full": (ModelConfig(), 30_000),
    "tiny": (ModelConfig(embedding_size=8, hidden_size=8, alignment_size=8, maxout_size=8), 2_000),
    "small": (ModelConfig(embedding_size=300, hidden_size=500, alignment_size=500, maxout_size=250), 10_000),
}
WORDS, BEAM, ROUNDS = sized(25, 4), 5, 3


class RandomShortlist:
    """A thousand words for all sentences, and ten for each source word."""

    frequent = 1002

    def __init__(self, words: int) -> None:
        self._random = Random(0)
        self._candidates = [[self._random.randrange(self.frequent, words) for _ in range(10)] for _ in range(words)]

    def candidates(self, source: Sequence[int]) -> list[int]:
        """Those of its words."""
        return sorted({candidate for word in source for candidate in self._candidates[word]})


class PackedProducts(TorchDispatchMode):
    """Counts the products with packed float32 weights that are computed within it."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: Counter[tuple[int, int]] = Counter()
        """By the weight's number and how many rows it is multiplied with."""
        self._weights: dict[int, Tensor] = {}
        self._columns: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func is torch.ops.mkldnn._linear_pointwise.default:
            x_RX, weight = args[:2]
            self._weights[id(weight)], self._columns[id(weight)] = weight, x_RX.shape[1]
            self.counted[id(weight), len(x_RX)] += 1
        return func(*args, **(kwargs or {}))

    @torch.inference_mode()
    def seconds(self) -> float:
        """All of them, run alone: the median of some runs each."""
        total = 0.0
        for (number, rows), times in self.counted.items():
            weight, x_RX = self._weights[number], torch.randn(rows, self._columns[number])
            multiply = partial(torch.ops.mkldnn._linear_pointwise, x_RX, weight, None, "none", [], "")
            total += times * seconds_alone(multiply)
        return total


def main() -> None:
    """Time every way, round after round, and record the medians."""
    parser = Parser(__doc__)
    parser.add_argument("--size", choices=SIZES, default=sized("full", "tiny"))
    parser.add_argument("--skip-plain", action="store_true", help="only the fast ways")
    parser.add_speed(rounds=sized(ROUNDS, 1))
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    on = machine()
    config, vocabulary = SIZES[arguments.size]
    model = RNNsearch(config, vocabulary, vocabulary).eval()
    model.initialize("glorot", seed=1)
    with torch.no_grad():
        model.readout.b_w[END] = -1000.0
    ways: dict[str, Callable[[], Backend]] = {
        "plain": lambda: PlainBackend(model),
        "exact": lambda: FastBackend(model),
        "int8": lambda: FastBackend(model, "int8"),
        "int8, vocabulary selection": lambda: FastBackend(model, "int8", RandomShortlist(vocabulary)),
    }
    if arguments.skip_plain:
        del ways["plain"]
    random = Random(0)
    sentences = [[random.randrange(2, vocabulary) for _ in range(WORDS)] for _ in range(64)]
    backends = {name: make() for name, make in ways.items()}
    at_once = ("1", "32")
    rates: dict[str, dict[str, list[Run[float]]]] = {name: {number: [] for number in at_once} for name in ways}
    shares: dict[str, list[float]] = {number: [] for number in at_once}
    sentences_per_second(backends["exact"], sentences, 32)  # for compiling
    products = {number: products_of(backends["exact"], sentences, int(number)) for number in at_once}
    for number in range(arguments.rounds + 1):
        for name, backend in backends.items():
            for side_by_side, of_rate in rates[name].items():
                translate = partial(sentences_per_second, backend, sentences, int(side_by_side))
                rate = undisturbed(translate, arguments.background)
                print(f"round {number}: {name}, {side_by_side} at once: {rate.found:.1f} sentences/s", flush=True)
                if not number:  # it is for compiling, and for filling caches
                    continue
                of_rate.append(rate)
                if name == "exact":
                    alone = products[side_by_side].seconds() / count(sentences, int(side_by_side))
                    shares[side_by_side].append(alone * rate.found)
                    print(f"round {number}: of that, products alone: {alone * rate.found:.1%}", flush=True)
    medians = {
        name: {number: round(statistics.median(run.found for run in runs), 2) for number, runs in of_way.items()}
        for name, of_way in rates.items()
    }
    share = {number: round(statistics.median(found), 4) for number, found in shares.items()}
    what = {"1": "one sentence at a time", "32": "batches of 32"}
    write_speed(
        f"speed/decoding-{arguments.size}",
        machine=on,
        rows=[
            {
                "what": f"products alone, share of exact search, {arguments.size} size, beam {BEAM}, {what[number]}",
                "unit": "%",
                "ours": round(100 * share[number], 1),
                "peers": {},
            }
            for number in reversed(at_once)
        ],
        threads=arguments.threads,
        model=asdict(config),
        vocabulary=vocabulary,
        words=WORDS,
        beam=BEAM,
        sentences_per_second=medians,
        products_share_of_exact=share,
        runs={
            name: {number: [{"rate": round(run.found, 2), **run.load()} for run in runs] for number, runs in of_way.items()}
            for name, of_way in rates.items()
        },
    )


def sentences_per_second(backend: Backend, sentences: list[list[int]], side_by_side: int) -> float:
    """Translate one sentence after the other, or so many side by side."""
    settings = SearchConfig(beam=BEAM, batch_sentences=side_by_side, maximum_length_ratio=1.0)
    began = time.monotonic()
    for group in groups(sentences, side_by_side):
        beam_search(backend, group, settings)
    return count(sentences, side_by_side) / (time.monotonic() - began)


def products_of(backend: Backend, sentences: list[list[int]], side_by_side: int) -> PackedProducts:
    """The products of the same translations."""
    products = PackedProducts()
    with products:
        sentences_per_second(backend, sentences, side_by_side)
    return products


def groups(sentences: list[list[int]], side_by_side: int) -> list[list[list[int]]]:
    """What is translated at a time: two rounds of so many, or four sentences one by one."""
    return [sentences[: 2 * side_by_side]] if side_by_side > 1 else [[sentence] for sentence in sentences[:4]]


def count(sentences: list[list[int]], side_by_side: int) -> int:
    """How many sentences that are."""
    return sum(map(len, groups(sentences, side_by_side)))


if __name__ == "__main__":
    main()
