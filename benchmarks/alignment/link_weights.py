"""Learns the weights of the probability of a link (`rnnsearch/alignment/link_weights.json`) from gold links.

The aligners learn from texts of different sizes (TEXTS), since the weights are to suit all of them, and a small text is to
its language what a large one is to a language that is far away. The network learns the gold links of the two novels
DEVELOPED_ON, those of `DATA/align/LL/dev`, and those of the first 500 training sentences of the built-in corpus, which count
less. A link that is only possible counts as a weak link. Every sentence pair counts in both directions, half each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.alignment.aligners import beginning_of, learned, text_of
from benchmarks.alignment.gold import LANGUAGES, Aligned, built_in_test, language_sets, language_text, novels, tokenized
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser
from benchmarks.lib.record import TINY, sized
from rnnsearch.alignment import LineLinks
from rnnsearch.alignment.probability import EVIDENCE, WEIGHTS
from rnnsearch.atomic import write_text
from rnnsearch.data.word_alignments import GoldLinks, read_gold

HIDDEN, DECAY, POSSIBLE = 12, 8.0, 0.2
"""Units; the weight of the sum of squared weights; the weight of a cell whose link is only possible."""
GENERATED = 0.6
"""The weight of a cell of the built-in corpus, whose links are drawn by rule."""
TEXTS = {
    "novels": sized((30_000, 8_000), (200,)),
    "built-in": sized((2_000,), (200,)),
    "nl": (None, 1_500),
    "pt": (None,),
    "es": (1_500,),
    "it": (1_500,),
    "ru": (1_500,),
}
"""The first lines of each text from which aligners learn; None is all of them."""
TRAINED = sized(500, 40)
_OPPOSITE = {"forward": "backward", "backward": "forward", "source": "target", "target": "source"}
TURNED = [EVIDENCE.index(re.sub("|".join(_OPPOSITE), lambda word: _OPPOSITE[word[0]], name)) for name in EVIDENCE]
"""The places of the evidence if the source were the target."""
Doubles = NDArray[np.float64]
Cells = tuple[Doubles, Doubles, Doubles]
"""The evidence of cells, whether each is linked, and the weight of each."""


def main() -> None:
    """Train, collect, fit, write."""
    arguments = Parser(__doc__, "data", "output").parse_args()
    folder = arguments.output / "aligners"
    folder.mkdir(parents=True, exist_ok=True)
    collected: list[Cells] = []
    for name, sizes in TEXTS.items():
        for lines in sizes:
            text, known = known_links(name, lines, arguments.data, folder)
            aligner = learned(text, folder / f"{name}-{lines or 'all'}.aligner")
            found = aligner.align(known.pairs())
            for line, gold in zip(found, known.gold, strict=True):
                evidence, linked, weight = cells(line, gold, GENERATED if name == "built-in" else 1.0)
                collected.append((evidence, linked, weight / 2))
                collected.append((evidence[:, TURNED], linked, weight / 2))
    weights = fit(*(np.concatenate(parts) for parts in zip(*collected, strict=True)))
    path = Path(TINY) / WEIGHTS.name if TINY else WEIGHTS
    write_text(path, json.dumps({name: np.round(part, 4).tolist() for name, part in weights.items()}) + "\n")
    print(f"wrote {path}")


def known_links(name: str, lines: int | None, data: Path, folder: Path) -> tuple[Sequence[Path], Aligned]:
    """The text of so many lines, and those of its sentences whose links are learned."""
    if name in LANGUAGES:
        return language_text(data / "align" / name, folder, lines), language_sets(data / "align" / name)["dev"]
    corpus = built_in.corpus(folder / "corpus")
    if name == "novels":
        test = novels(data)
        known = test.part("developed on")
    else:
        test = built_in_test(corpus)
        known = Aligned(*tokenized(*built_in.part(corpus, "train")), read_gold(corpus / "train.gold")).chosen(range(TRAINED))
    text: Sequence[Path] = text_of(name, test, data, folder)
    return (beginning_of(text, lines) if lines else text), known


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
