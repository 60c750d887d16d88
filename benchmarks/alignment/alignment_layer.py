"""What the alignment layer gains: the alignment error rate of a translator's attention and of its alignment layer.

MODEL is an English–French translator with an alignment layer (`rnnsearch learn-links`), by default the installed one. The
novels of `DATA/alibi` are aligned by its attention, by the attention as it is read one word later, when the word itself is
known (Shift-Att of Chen et al. 2020), and by the layer. How often links of a given probability are right is measured too.
What was chosen, was chosen on the two novels DEVELOPED_ON of `aligners.py`; the other three are the test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.alignment.aligner_scores import Cells, reliability
from benchmarks.alignment.gold import novels
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from rnnsearch.data.word_alignments import Links, hard_alignment
from rnnsearch.translation import ScoredPair, load

LEAST = 0.01
"""The reliability of smaller probabilities is not measured: almost all pairs of words have one."""


def main() -> None:
    """Align, score, record."""
    arguments = Parser(__doc__, "data", "model?").parse_args()
    on, test = machine(), novels(arguments.data)
    translator = load(*([arguments.model] if arguments.model else []))
    pairs = translator.score(*test.lines(), tokenized=True)
    ways = {
        "attention": [hard_alignment(_there(pair)) for pair in pairs],
        "attention, one word later": [later(pair) for pair in pairs],
        "alignment layer": [pair.links or frozenset() for pair in pairs],
    }
    found: dict[str, Any] = {}
    for way, links in ways.items():
        found[way] = {
            part: {name: score[name] for name in ("aer", "precision", "recall")}
            for part, score in test.scores(links).items()
        }
        print(way, *(f"{part} {score['aer']:.4f}" for part, score in found[way].items()))
    probable = {
        part: reliability([cells(pairs[n]) for n in numbers], [test.gold[n] for n in numbers])
        for part, numbers in test.parts.items()
    }
    for part, of in probable.items():
        print(part, *(f"{kind}: calibration error {one['expected_calibration_error']:.4f}" for kind, one in of.items()))
    size = translator.system.model.count_parameters()
    write_result("alignment/alignment_layer", machine=on, parameters=size, found=found, reliability=probable)


def later(pair: ScoredPair) -> Links:
    """The links of attention where each word is linked by the weights of the step after it."""
    assert pair.end_alignment is not None
    return hard_alignment(np.concatenate([_there(pair)[1:], pair.end_alignment[np.newaxis]]))


def cells(pair: ScoredPair) -> Cells:
    """The cells to which the layer gives at least the probability LEAST."""
    assert pair.link_probabilities is not None
    target, source = np.nonzero(pair.link_probabilities >= LEAST)
    return source, target, pair.link_probabilities[target, source].astype(float)


def _there(pair: ScoredPair) -> Any:
    assert pair.alignment is not None
    return pair.alignment
