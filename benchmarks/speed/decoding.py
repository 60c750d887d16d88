"""The gain of each part of search: sentences a second of the plain backend, exact, int8, and vocabulary selection.

    python benchmarks/speed/decoding.py [--size full] [--threads 2]

The weights are random, and every sentence takes the same number of steps: none ends before it has as many words as its
source, so every step has all hypotheses of the beam. `translation_speed.py` measures real sentences, beside the peers.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import Run, machine, sized, undisturbed, write_speed
from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.graphs.weights import Weights
from rnnsearch.jobs.processes import use_threads
from rnnsearch.model import RNNsearch
from rnnsearch.search.backend import Backend
from rnnsearch.search.beam import beam_search
from rnnsearch.search.onnx import OnnxBackend
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


def main() -> None:
    """Time every way, round after round, and record the medians."""
    parser = Parser(__doc__)
    parser.add_argument("--size", choices=SIZES, default=sized("full", "tiny"))
    parser.add_argument("--skip-plain", action="store_true", help="only those of ONNX Runtime")
    parser.add_speed(rounds=sized(ROUNDS, 1))
    arguments = parser.parse_args()

    use_threads(arguments.threads)
    on = machine()
    config, vocabulary = SIZES[arguments.size]
    model = RNNsearch(config, vocabulary, vocabulary).eval()
    model.initialize("glorot", seed=1)
    with torch.no_grad():
        model.readout.b_w[END] = -1000.0
    weights = Weights({name: parameter.detach().numpy() for name, parameter in model.named_parameters()})
    ways: dict[str, Callable[[], Backend]] = {
        "plain": lambda: PlainBackend(model),
        "exact": lambda: OnnxBackend(config, weights),
        "int8": lambda: OnnxBackend(config, weights, "int8"),
        "int8, vocabulary selection": lambda: OnnxBackend(config, weights, "int8", RandomShortlist(vocabulary)),
    }
    if arguments.skip_plain:
        del ways["plain"]
    random = Random(0)
    sentences = [[random.randrange(2, vocabulary) for _ in range(WORDS)] for _ in range(64)]
    backends = {name: make() for name, make in ways.items()}
    at_once = ("1", "32")
    rates: dict[str, dict[str, list[Run[float]]]] = {name: {number: [] for number in at_once} for name in ways}
    for number in range(arguments.rounds + 1):
        for name, backend in backends.items():
            for side_by_side, of_rate in rates[name].items():
                translate = partial(sentences_per_second, backend, sentences, int(side_by_side))
                rate = undisturbed(translate, arguments.background)
                print(f"round {number}: {name}, {side_by_side} at once: {rate.found:.1f} sentences/s", flush=True)
                if not number:  # it is for filling caches
                    continue
                of_rate.append(rate)
    medians = {
        name: {number: round(statistics.median(run.found for run in runs), 2) for number, runs in of_way.items()}
        for name, of_way in rates.items()
    }
    what = {"1": "one sentence at a time", "32": "batches of 32"}
    write_speed(
        f"speed/decoding-{arguments.size}",
        machine=on,
        rows=[
            {
                "what": f"search, {arguments.size} size, beam {BEAM}, {what[number]}, {name}",
                "unit": "sentences/s",
                "ours": rates_of_way[number],
                "peers": {},
            }
            for name, rates_of_way in medians.items()
            for number in reversed(at_once)
        ],
        threads=arguments.threads,
        model=asdict(config),
        vocabulary=vocabulary,
        words=WORDS,
        beam=BEAM,
        sentences_per_second=medians,
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


def groups(sentences: list[list[int]], side_by_side: int) -> list[list[list[int]]]:
    """What is translated at a time: two rounds of so many, or four sentences one by one."""
    return [sentences[: 2 * side_by_side]] if side_by_side > 1 else [[sentence] for sentence in sentences[:4]]


def count(sentences: list[list[int]], side_by_side: int) -> int:
    """How many sentences that are."""
    return sum(map(len, groups(sentences, side_by_side)))


if __name__ == "__main__":
    main()
