"""Learns the weights of both networks of the probability of a link (`alignment/link_weights.json`) from gold links.

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
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.alignment.aligners import beginning_of, learned, text_of
from benchmarks.alignment.gold import LANGUAGES, Aligned, built_in_test, language_sets, language_text, novels, tokenized
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser
from benchmarks.lib.record import TINY, sized
from rnnsearch.alignment import LineLinks
from rnnsearch.alignment.probability import EVIDENCE, SURROUNDINGS, WEIGHTS, Network, surroundings
from rnnsearch.atomic import write_text
from rnnsearch.data.word_alignments import GoldLinks, read_gold

POSSIBLE = 0.2
"""The weight of a position pair whose link is only possible."""
GENERATED = 0.6
"""The weight of a position pair of the built-in corpus, whose links are drawn by rule."""
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
Doubles = NDArray[np.float64]


class Example(NamedTuple):
    """A line whose links are known: its position pairs, and whether each is linked."""

    line: LineLinks
    lengths: tuple[int, int]
    """The numbers of its source words and of its target words."""
    linked: Doubles
    weight: Doubles


def main() -> None:
    """Train aligners, collect the lines whose links are known, fit both networks, write their weights."""
    arguments = Parser(__doc__, "data", "output").parse_args()
    folder = arguments.output / "aligners"
    folder.mkdir(parents=True, exist_ok=True)
    examples: list[Example] = []
    for name, sizes in TEXTS.items():
        for lines in sizes:
            text, known = known_links(name, lines, arguments.data, folder)
            aligner = learned(text, folder / f"{name}-{lines or 'all'}.aligner")
            pairs = list(known.pairs())
            for line, pair, gold in zip(aligner.align(pairs), pairs, known.gold, strict=True):
                examples.append(example(line, pair, gold, GENERATED if name == "built-in" else 1.0))
    first = fit(examples, [of.line.evidence for of in examples], EVIDENCE, units=12, decay=8.0)
    around = [surroundings_of(of, first) for of in examples]
    # Three trainings differ in their first weights alone; one network has the mean of their outputs.
    second = mean_of([fit(examples, around, SURROUNDINGS, units=6, decay=20.0, seed=seed) for seed in (1, 2, 3)])
    path = Path(TINY) / WEIGHTS.name if TINY else WEIGHTS
    rounded = {
        name: {part: np.round(values, 4).tolist() for part, values in network._asdict().items()}
        for name, network in (("first", first), ("second", second))
    }
    write_text(path, json.dumps(rounded) + "\n")
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


def example(line: LineLinks, pair: tuple[Sequence[str], Sequence[str]], gold: GoldLinks, weight: float) -> Example:
    """Return a line with its gold links; `weight` is that of a position pair that is linked for sure, or not linked."""
    links = list(zip(line.source.tolist(), line.target.tolist(), strict=True))
    possible = np.array([link in gold.possible for link in links], bool)
    sure = np.array([link in gold.sure for link in links], bool)
    weights = weight * np.where(possible & ~sure, POSSIBLE, 1.0)
    return Example(line, (len(pair[0]), len(pair[1])), possible.astype(float), weights)


def surroundings_of(example: Example, first: Network) -> Doubles:
    """Return the features of the second network for a line."""
    line = example.line
    starts, lengths = np.array([0, len(line.source)]), np.array([example.lengths])
    return np.asarray(surroundings(first(line.evidence), line.source, line.target, starts, lengths))


def fit(
    examples: Sequence[Example], features: Sequence[Doubles], names: Sequence[str], units: int, decay: float, seed: int = 1
) -> Network:
    """Return the network with the least cross-entropy, plus `decay` times the sum of its squared weights."""
    turned = [names.index(_turned(name)) for name in names]
    features_NK = np.concatenate([side for of in features for side in (of, of[:, turned])])
    mean, deviation = features_NK.mean(0), features_NK.std(0) + 1e-6
    linked_N = np.concatenate([of.linked for of in examples for _ in range(2)])
    weight_N = np.concatenate([of.weight / 2 for of in examples for _ in range(2)])
    x, y, w = (torch.from_numpy(part) for part in ((features_NK - mean) / deviation, linked_N, weight_N))
    torch.manual_seed(seed)
    K = x.shape[1]
    shapes = {"linear": (K,), "constant": (), "hidden": (K, units), "bias": (units,), "out": (units,)}
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
        total = total + decay * sum((part**2).sum() for part in weights.values())
        total.backward()
        return total

    optimizer.step(cost)
    return Network(mean, deviation, **{name: part.detach().numpy() for name, part in weights.items()})


def _turned(name: str) -> str:
    """Return the name of the feature that this one becomes if the source is the target."""
    name = re.sub(r"at (\S+), (\S+)", r"at \2, \1", name)
    return re.sub("|".join(_OPPOSITE), lambda word: _OPPOSITE[word[0]], name)


def mean_of(networks: Sequence[Network]) -> Network:
    """Return the network whose output, before the sigmoid, is the mean of those of networks with the same features."""
    count = len(networks)
    return Network(
        networks[0].mean,
        networks[0].deviation,
        np.mean([of.linear for of in networks], axis=0),
        np.concatenate([of.hidden for of in networks], axis=1),
        np.concatenate([of.bias for of in networks]),
        np.concatenate([of.out for of in networks]) / count,
        np.mean([of.constant for of in networks], axis=0),
    )
