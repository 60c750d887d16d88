"""Learns the weights of the probability of a link (`rnnsearch/alignment/link_weights.json`) from gold links.

    python benchmarks/alignment/link_weights.py --data DATA --output RUNS

The aligners are those that `aligners.py` keeps in RUNS, and others that learn from the first 30,000 lines of each text, so
that the weights suit texts of different sizes. The network learns the gold links of the two novels DEVELOPED_ON, and of the
first 500 training sentences of the built-in corpus, which count less. A link that is only possible counts as a weak link.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.alignment.aligners import ours, text_of
from benchmarks.alignment.gold import Aligned, built_in_test, novel_parts, novels, tokenized
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser
from benchmarks.lib.record import TINY, sized
from rnnsearch.alignment import LineLinks
from rnnsearch.alignment.probability import WEIGHTS
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import GoldLinks, read_gold

HIDDEN, DECAY, POSSIBLE = 8, 8.0, 0.2
"""Units; the weight of the sum of squared weights; the weight of a cell whose link is only possible."""
GENERATED = 0.3
"""The weight of a cell of the built-in corpus, whose links are drawn by rule."""
SMALL, TRAINED = sized((30_000, 500), (200, 40))
Doubles = NDArray[np.float64]
Cells = tuple[Doubles, Doubles, Doubles]
"""The evidence of cells, whether each is linked, and the weight of each."""


def main() -> None:
    """Train, collect, fit, write."""
    parser = Parser(__doc__, "data", "output")
    arguments = parser.parse_args()
    folder = arguments.output / "aligners"
    test, generated = novels(arguments.data / "alibi"), built_in_test(built_in.corpus(folder / "corpus"))
    developed = novel_parts(arguments.data / "alibi")["developed on"]
    whole = tokenized(folder / "corpus" / "train.en", folder / "corpus" / "train.fr")
    trained = Aligned(*whole, read_gold(folder / "corpus" / "train.gold")).chosen(range(TRAINED))
    collected: list[Cells] = []
    for lines in (None, SMALL):
        for name, tested, known, weight in (
            ("novels", test, test.chosen(developed), 1.0),
            ("built-in", generated, trained, GENERATED),
        ):
            text, output = text_of(name, tested, arguments.data, folder), folder / name
            if lines:
                text, output = beginning(text, lines), folder / f"{name}-{lines}"
            for line, gold in zip(ours(text, output, known)[0], known.gold, strict=True):
                collected.append(cells(line, gold, weight))
    weights = fit(*(np.concatenate(parts) for parts in zip(*collected, strict=True)))
    path = Path(TINY) / WEIGHTS.name if TINY else WEIGHTS
    write_text(path, json.dumps({name: np.round(part, 4).tolist() for name, part in weights.items()}) + "\n")


def beginning(text: Sequence[Path], lines: int) -> tuple[Path, Path]:
    """The first lines of both files of a text, in files."""
    paths = [path.with_name(f"{path.stem}-{lines}{path.suffix}") for path in text]
    for path, whole in zip(paths, text, strict=True):
        write_text(path, "".join(f"{line}\n" for line in islice(read_lines(whole), lines)))
    return paths[0], paths[1]


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
    optimizer = torch.optim.LBFGS(list(weights.values()), max_iter=sized(400, 3), line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        hidden = torch.tanh(x @ weights["hidden"] + weights["bias"])
        z = x @ weights["linear"] + hidden @ weights["out"] + weights["constant"]
        total: torch.Tensor = torch.nn.functional.binary_cross_entropy_with_logits(z, y, w, reduction="sum")
        total = total + DECAY * sum((part**2).sum() for part in weights.values())
        total.backward()
        return total

    optimizer.step(cost)
    return {"mean": mean, "deviation": deviation} | {name: part.detach().numpy() for name, part in weights.items()}


if __name__ == "__main__":
    main()
