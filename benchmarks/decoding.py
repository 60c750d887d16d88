"""What each part of fast decoding brings: sentences a second, plain, exact, int8, and int8 with a shortlist.

    python benchmarks/decoding.py [--size paper] [--threads 2]

Random weights, and the same number of steps for every sentence: none ends before it has as many words as its source, so
every step has all hypotheses of the beam. Real translations end one by one; `translation_speed.py` times them, beside the
peers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from random import Random

import torch
from record import machine, write_speed

from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.engine.decoding import PlainStepper, Stepper
from rnnsearch.engine.fast_decoding import FastStepper
from rnnsearch.model import RNNsearch
from rnnsearch.text.vocabulary import END
from rnnsearch.translation.search import beam_search

SIZES = {
    "paper": (ModelConfig(), 30_000),
    "small": (ModelConfig(embedding_size=300, hidden_size=500, alignment_size=500, maxout_size=250), 10_000),
}
WORDS, BEAM, ROUNDS = 25, 5, 3


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="paper")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--skip-plain", action="store_true", help="only the fast ways")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    on = machine()
    config, vocabulary = SIZES[arguments.size]
    model = RNNsearch(config, vocabulary, vocabulary).eval()
    model.initialize("glorot", seed=1)
    with torch.no_grad():
        model.readout.b_w[END] = -1000.0
    ways: dict[str, Callable[[], Stepper]] = {
        "plain": lambda: PlainStepper(model),
        "exact": lambda: FastStepper(model),
        "int8": lambda: FastStepper(model, "int8"),
        "int8, shortlist": lambda: FastStepper(model, "int8", RandomShortlist(vocabulary)),
    }
    if arguments.skip_plain:
        del ways["plain"]
    random = Random(0)
    sentences = [[random.randrange(2, vocabulary) for _ in range(WORDS)] for _ in range(64)]
    steppers = {name: make() for name, make in ways.items()}
    rates: dict[str, dict[str, list[float]]] = {name: {"1": [], "32": []} for name in ways}
    for number in range(arguments.rounds + 1):
        for name, stepper in steppers.items():
            for side_by_side, of_rate in rates[name].items():
                rate = sentences_per_second(stepper, sentences, int(side_by_side))
                if number:  # the first is for compiling, and for filling caches
                    of_rate.append(rate)
                print(f"round {number}: {name}, {side_by_side} at once: {rate:.1f} sentences/s", flush=True)
    medians = {
        name: {at_once: round(statistics.median(of_rate), 2) for at_once, of_rate in of_way.items()}
        for name, of_way in rates.items()
    }
    write_speed(
        f"decoding-{arguments.size}",
        machine=on,
        threads=arguments.threads,
        model=asdict(config),
        vocabulary=vocabulary,
        words=WORDS,
        beam=BEAM,
        sentences_per_second=medians,
    )


def sentences_per_second(stepper: Stepper, sentences: list[list[int]], side_by_side: int) -> float:
    """Translate one sentence after the other, or so many side by side."""
    settings = SearchConfig(beam=BEAM, batch_sentences=side_by_side, maximum_length_ratio=1.0)
    groups = [sentences[: 2 * side_by_side]] if side_by_side > 1 else [[sentence] for sentence in sentences[:4]]
    began = time.monotonic()
    for group in groups:
        beam_search(stepper, group, settings)
    return sum(len(group) for group in groups) / (time.monotonic() - began)


if __name__ == "__main__":
    main()
