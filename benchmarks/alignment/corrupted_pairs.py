"""Pairs that are no translations, found by the scores of word alignment: `rnnsearch eflomal-align` beside eflomal's.

The text is PAIRS pairs of Europarl, drawn at random. The targets of a tenth of them are exchanged among each other, so that
each is a sentence of the text beside a source that it does not translate. Both aligners learn from this text and score its
pairs, in both directions, as OpusFilter has it done. The measure is the area under the ROC curve: the probability that a
corrupted pair has a worse score than a pair that is left alone. `both` is the mean of the scores of both directions.

PYTHON is that of an environment with the package `eflomal`, which is never a dependency.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.alignment.aligners import europarl
from benchmarks.lib.command import Parser, rnnsearch
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.data.lines import read_lines

PAIRS = sized(10_000, 60)
SHARE = 0.1
DIRECTIONS = "forward", "reverse"


def main() -> None:
    """Write the text, score it by both aligners, record the areas."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--peers", type=Path, required=True, help="a Python with eflomal")
    arguments = parser.parse_args()
    folder = arguments.output / "corrupted_pairs"
    folder.mkdir(parents=True, exist_ok=True)
    corrupted, files = written(arguments.data, folder)
    programs = {"rnnsearch": rnnsearch("eflomal-align"), "eflomal": [str(arguments.peers.with_name("eflomal-align"))]}
    write_result(
        "alignment/corrupted_pairs",
        machine=machine(),
        pairs=len(corrupted),
        corrupted=int(corrupted.sum()),
        area={name: areas(program, files, folder / name, corrupted) for name, program in programs.items()},
    )


def written(data: Path, folder: Path) -> tuple[NDArray[np.bool_], list[Path]]:
    """Write both files; return which pairs are corrupted, and the files."""
    source, target = ([" ".join(words) for words in side] for side in europarl(data, PAIRS))
    chosen = np.random.default_rng(1).permutation(len(source))[: int(SHARE * len(source))].tolist()
    exchanged = [target[n] for n in chosen]
    for place, line in zip(chosen[1:] + chosen[:1], exchanged, strict=True):
        target[place] = line
    files = [folder / "text.en", folder / "text.fr"]
    for file, lines in zip(files, (source, target), strict=True):
        write_lines(file, lines)
    corrupted = np.zeros(len(source), bool)
    corrupted[chosen] = True
    return corrupted, files


def areas(program: Sequence[str], files: Sequence[Path], output: Path, corrupted: NDArray[np.bool_]) -> dict[str, float]:
    """The area under the curve by the scores of each direction, and by their mean."""
    outputs = [output.with_suffix(f".{direction}") for direction in DIRECTIONS]
    options = ["-s", files[0], "-t", files[1], "-F", outputs[0], "-R", outputs[1]]
    subprocess.run([*program, *map(str, options)], check=True)
    scores = {
        name: np.array([float(line) for line in read_lines(file)]) for name, file in zip(DIRECTIONS, outputs, strict=True)
    }
    scores["both"] = (scores["forward"] + scores["reverse"]) / 2
    return {name: round(area(of_pairs, corrupted), 4) for name, of_pairs in scores.items()}


def area(scores: NDArray[np.float64], corrupted: NDArray[np.bool_]) -> float:
    """The area under the ROC curve, by ranks (Mann and Whitney 1947); equal scores count by half."""
    _, numbers, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[numbers]
    positive, negative = int(corrupted.sum()), int((~corrupted).sum())
    return float((ranks[corrupted].sum() - positive * (positive + 1) / 2) / (positive * negative))
