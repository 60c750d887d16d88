"""What each part of `rnnsearch align` without a model contributes to its links of the novels.

The models are those of the aligner that `aligners.py` has kept in RUNS: each kind by itself, one direction and both, and all
of them by the network. What stems and spelling are good for is seen on the first 20,000 lines of the same text, where more
words are rare; there, an aligner learns with both, without stems, and without spelling. The network is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.alignment.aligners import ours, text_of
from benchmarks.alignment.gold import novels
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_result
from rnnsearch.alignment import Aligner, Corpus, LineLinks, lexicon, vocabulary
from rnnsearch.alignment.probability import EVIDENCE
from rnnsearch.data.read import read_pairs
from rnnsearch.data.word_alignments import Links

LINES = sized(20_000, 200)


def main() -> None:
    """Align, score, record."""
    arguments = Parser(__doc__, "data", "output").parse_args()
    folder, test = arguments.output / "aligners", novels(arguments.data)
    text = text_of("novels", test, arguments.data, folder)

    def scores(lines: Sequence[LineLinks], links: Callable[[LineLinks], Links]) -> dict[str, Any]:
        return test.scores([links(line) for line in lines])

    on, lines = machine(), ours(text, folder / "novels", test)[0]
    alone = [independent(line) for line in lines]
    models = {
        "independent models, forward": scores(alone, forward),
        "independent models, intersection": scores(alone, lambda line: line.links("intersection")),
        "agreeing models, forward": scores(lines, forward),
        "agreeing models, intersection": scores(lines, lambda line: line.links("intersection")),
        "the network, which reads all of them": scores(lines, LineLinks.links),
    }
    without: dict[str, AbstractContextManager[Any]] = {
        "stems and spelling": nullcontext(),
        "without stems": patch.object(vocabulary, "stem", lambda word: word),
        "without spelling": patch.object(lexicon, "_BETA", 0.0),
    }
    evidence = {}
    for name, change in without.items():
        with change:
            evidence[name] = scores(list(islice(learned(text), len(test.gold))), LineLinks.links)
    write_result("alignment/aligner_ablation", machine=on, models=models, lines=LINES, evidence=evidence)


def forward(line: LineLinks) -> Links:
    """The links of the model that generates the target, by itself."""
    return replace(line, backward=np.zeros_like(line.backward)).links("union")


def independent(line: LineLinks) -> LineLinks:
    """The line as the independent models see it."""
    columns = (EVIDENCE.index(f"logit {direction}, independent") for direction in ("forward", "backward"))
    of_target, of_source = (1 / (1 + np.exp(-line.evidence[:, column])) for column in columns)
    return replace(line, forward=of_target.astype(np.float32), backward=of_source.astype(np.float32))


def learned(text: Sequence[Path]) -> Iterator[LineLinks]:
    """The first lines of a text, of which an aligner has learned."""
    corpus = Corpus((one.split(), other.split()) for one, other in islice(read_pairs([text[0]], [text[1]]), LINES))
    return Aligner.learn(corpus).align(corpus)
