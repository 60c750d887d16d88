"""How the cost of training and of translation grows with sentence length, minibatch, vocabulary and beam.

Random sentences, all of one length. One quantity grows at a time, the others stay as they are in the paper: 80 pairs of 25
words, beam 12, and the size's vocabulary. It also draws a picture for `docs/`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch

from benchmarks.lib.command import SPEED, Parser
from benchmarks.lib.record import IMAGES, machine, sized, undisturbed, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, Size, uniform_system
from benchmarks.lib.training import train
from rnnsearch.translation import Translator


@dataclass(frozen=True)
class Point:
    """What is measured, and how large."""

    words: int = sized(25, 4)
    """In each sentence, on both sides."""
    batch: int = sized(BATCH, 4)
    """Pairs in a minibatch of training; sentences side by side in translation."""
    vocabulary: int = sized(10_000, 40)
    beam: int = sized(12, 2)


GROWING: dict[str, tuple[int, ...]] = {
    "words": sized((5, 10, 20, 30, 40, 50, 65, 80), (2, 4)),
    "batch": sized((10, 20, 40, 80, 120, 160), (2, 4)),
    "vocabulary": sized((5_000, 10_000, 20_000, 30_000, 50_000, 80_000), (20, 40)),
    "beam": sized((1, 2, 5, 8, 12, 20, 30), (1, 2)),
}
LABELS = {
    "words": "words in a sentence",
    "batch": "sentences side by side",
    "vocabulary": "words in the vocabulary",
    "beam": "beam",
}


def main() -> None:
    """Measure every point, record, draw."""
    arguments = Parser(__doc__, *SPEED, size=sized("small", "tiny"), repeats=sized(5, 1)).parse_args()

    on = machine()
    torch.set_num_threads(arguments.threads)
    size = SIZES[arguments.size]
    usual = Point(vocabulary=sized(size.words, 40))
    found: dict[str, list[dict[str, Any]]] = {}
    for growing in GROWING:
        for value in GROWING[growing]:
            point = replace(usual, **{growing: value})
            row: dict[str, Any] = {growing: value}
            measures: dict[str, Callable[[Size, Point, int], float]] = {"translation": translation_seconds}
            if growing != "beam":
                measures["training"] = training_seconds
            for name, measure in measures.items():
                run = undisturbed(partial(measure, size, point, arguments.repeats), arguments.background)
                row[name] = {"seconds": round(run.found, 5), **run.load()}
            found.setdefault(growing, []).append(row)
            print(row, flush=True)
    write_speed(
        f"speed/growth-{arguments.size}",
        machine=on,
        threads=arguments.threads,
        usual=asdict(usual),
        seconds_of="an update of training; the translation of all sentences side by side",
        growth=found,
    )
    draw(found, usual, IMAGES / f"growth-{arguments.size}.png")


def training_seconds(size: Size, point: Point, repeats: int) -> float:
    """The median of some updates."""
    config = size.config({"batch_size": point.batch})
    with tempfile.TemporaryDirectory() as folder:
        system, corpus = uniform_system(Path(folder), config, point.words, point.vocabulary, point.batch)
        updates = train(system, corpus, repeats + 1)
    return statistics.median(update.seconds for update in updates[1:])


def translation_seconds(size: Size, point: Point, repeats: int) -> float:
    """The median of some translations, each of as many words as the source has."""
    with tempfile.TemporaryDirectory() as folder:
        config = size.config({"initialization": "glorot"})
        system, _ = uniform_system(Path(folder), config, point.words, point.vocabulary, point.batch)
    system.model.eval()
    translator = Translator([system])
    lines = [" ".join(["w1"] * point.words)] * point.batch
    exactly: dict[str, Any] = {"minimum_length_ratio": 1.0, "maximum_length_ratio": 1.0, "batch_sentences": point.batch}
    times = []
    for _ in range(1 + max(1, repeats // 2)):
        began = time.perf_counter()
        translator.translate(lines, beam=point.beam, **exactly)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def draw(found: dict[str, list[dict[str, Any]]], usual: Point, path: Path) -> None:
    """A panel for each quantity that grows; a straight line through zero is the dashed one."""
    figure, panels = plt.subplots(1, len(found), figsize=(3.4 * len(found), 3.2), squeeze=False, layout="constrained")
    for panel, (growing, rows) in zip(panels[0], found.items(), strict=True):
        for name, colour in (("training", "C0"), ("translation", "C1")):
            points = [(row[growing], row[name]["seconds"]) for row in rows if name in row]
            if not points:
                continue
            values, seconds = zip(*points, strict=True)
            panel.plot(values, seconds, "o-", color=colour, label=name)
            panel.plot([0, values[-1]], [0, seconds[-1]], "--", color=colour, alpha=0.4, linewidth=1)
        panel.axvline(asdict(usual)[growing], color="0.85", zorder=0)
        panel.set(xlabel=LABELS[growing], xlim=(0, None), ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("seconds")
    panels[0][0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")
