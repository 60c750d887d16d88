"""Learns the weights of the probability of a link (`rnnsearch/alignment/link_weights.json`) from gold links.

    python benchmarks/link_weights.py --data DATA --output RUNS

Aligners are trained as `aligners.py` does it, and as much again on the first 30,000 lines of each text, so that the weights
suit texts of different sizes. Then the network learns the gold links of the two novels DEVELOPED_ON, and of the first 500
training sentences of the built-in corpus, which count less. A link that is only possible counts as a weak link.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from aligners import built_in, novel_parts, novels, text_of
from numpy.typing import NDArray

from rnnsearch.alignment import Corpus, LineLinks, train_aligner
from rnnsearch.alignment.probability import WEIGHTS
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_pairs
from rnnsearch.data.word_alignments import GoldLinks, read_gold

HIDDEN, DECAY, POSSIBLE = 8, 8.0, 0.2
"""Units; the weight of the sum of squared weights; the weight of a cell whose link is only possible."""
GENERATED = 0.3
"""The weight of a cell of the built-in corpus, whose links are drawn by rule."""
SMALL = 30_000
Doubles = NDArray[np.float64]
Cells = tuple[Doubles, Doubles, Doubles]
"""The evidence of cells, whether each is linked, and the weight of each."""


def main() -> None:
    """Train, collect, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with alibi/ and europarl/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where texts go")
    arguments = parser.parse_args()
    folder = arguments.output / "aligners"
    test, generated = novels(arguments.data / "alibi"), built_in(folder)
    developed = dict.fromkeys(novel_parts(arguments.data / "alibi")["developed on"])
    trained_gold = read_gold(folder / "corpus" / "train.gold")[:500]
    collected: list[Cells] = []
    for lines in (None, SMALL):
        text = text_of("novels", test, arguments.data, folder)
        for number, line in enumerate(aligned(text, lines, len(test.gold))):
            if number in developed:
                collected.append(cells(line, test.gold[number], 1.0))
        text = text_of("built-in", generated, arguments.data, folder)
        for number, line in enumerate(aligned(text, lines, len(generated.gold) + len(trained_gold))):
            if number >= len(generated.gold):
                collected.append(cells(line, trained_gold[number - len(generated.gold)], GENERATED))
    weights = fit(*(np.concatenate(parts) for parts in zip(*collected, strict=True)))
    write_text(WEIGHTS, json.dumps({name: np.round(part, 4).tolist() for name, part in weights.items()}) + "\n")


def aligned(text: Sequence[Path], lines: int | None, tested: int) -> list[LineLinks]:
    """The first lines of a text, of which so many are learned from."""
    pairs = ((one.split(), other.split()) for one, other in islice(read_pairs([text[0]], [text[1]]), lines))
    corpus = Corpus(pairs)
    return list(islice(train_aligner(corpus).align_corpus(corpus), tested))


def cells(line: LineLinks, gold: GoldLinks, weight: float) -> Cells:
    """The cells of a line."""
    links = list(zip(line.source.tolist(), line.target.tolist(), strict=True))
    possible = np.array([link in gold.possible for link in links], bool)
    sure = np.array([link in gold.sure for link in links], bool)
    return line.evidence, possible.astype(float), weight * np.where(possible & ~sure, POSSIBLE, 1.0)


def fit(evidence_NK: Doubles, linked_N: Doubles, weight_N: Doubles) -> dict[str, Doubles]:
    """The weights of the network with the least cross-entropy."""
    mean, deviation = evidence_NK.mean(0), evidence_NK.std(0) + 1e-6
    x, y, w = (torch.from_numpy(part) for part in ((evidence_NK - mean) / deviation, linked_N, weight_N))
    torch.manual_seed(1)
    K = x.shape[1]
    shapes = {"linear": (K,), "constant": (), "hidden": (K, HIDDEN), "bias": (HIDDEN,), "out": (HIDDEN,)}
    scale = {"hidden": K**-0.5, "out": 0.1}
    weights = {
        name: (torch.randn(shape, dtype=torch.float64) * scale.get(name, 0.0)).requires_grad_()
        for name, shape in shapes.items()
    }
    optimizer = torch.optim.LBFGS(list(weights.values()), max_iter=400, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        hidden = torch.tanh(x @ weights["hidden"] + weights["bias"])
        z = x @ weights["linear"] + hidden @ weights["out"] + weights["constant"]
        total = torch.nn.functional.binary_cross_entropy_with_logits(z, y, w, reduction="sum")
        total = total + DECAY * sum((part**2).sum() for part in weights.values())
        total.backward()
        return total

    optimizer.step(cost)
    return {"mean": mean, "deviation": deviation} | {name: part.detach().numpy() for name, part in weights.items()}


if __name__ == "__main__":
    main()
