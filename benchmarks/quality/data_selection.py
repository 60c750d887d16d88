"""Quality and cost of data selection: `rnnsearch select` on Europarl, with news as the in-domain text.

Quality: language models are trained on the pairs that the method of Axelrod, He and Gao (2011) keeps, on those that the
method of Moore and Lewis (2010) keeps by the target side, and on as many random pairs (three seeds); their perplexity is
measured on newstest2012 and 2013. All have the same vocabulary: the words that occur at least twice in the general corpus.
Cost: seconds and peak memory of the whole command on a quarter, a half and all of the corpus, each in a separate process;
the slope is between the last two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.command import Parser, cost_of, rnnsearch, text_options
from benchmarks.lib.record import machine, write_result
from benchmarks.lib.texts import sides
from rnnsearch.data.lines import read_lines
from rnnsearch.selection.cross_entropy_difference import (
    best,
    cross_entropy_differences,
    encoded_blocks,
    model_vocabulary,
    random_scores,
)
from rnnsearch.selection.general_corpus import SIDES, CorpusFiles, Side
from rnnsearch.selection.language_model import LanguageModel, perplexity
from rnnsearch.text import Vocabulary

LANGUAGES: dict[Side, str] = {"source": "en", "target": "fr"}
KEPT = (20_000, 50_000, 100_000)
SEEDS = (1, 2, 3)


def main() -> None:
    """Measure both, and record them."""
    arguments = Parser(__doc__, "data", lines=10**9).parse_args()
    on, news = machine(), by_side(sides(arguments.data, "wmt/news2008-2011"))
    with TemporaryDirectory() as folder:
        whole = concatenated(arguments.data / "europarl", Path(folder), arguments.lines)
        corpus = CorpusFiles.measure([whole["source"]], [whole["target"]], quiet)
        costs = [cost(whole, news, Path(folder), share * len(corpus) // 4) for share in (1, 2, 4)]
        kept = [count for count in KEPT if count < len(corpus)] or [len(corpus) // 10]
        found = perplexities(corpus, news, arguments.data / "wmt", kept)
    write_result(
        "quality/data_selection",
        machine=on,
        command="python benchmarks quality/data_selection --data DATA",
        pairs=len(corpus),
        words={side: int(words.sum()) for side, words in corpus.words.items()},
        perplexities=found,
        costs=costs,
        slope=slope(costs),
    )


def by_side(files: Iterable[Path]) -> dict[Side, Path]:
    """Two files, by their sides."""
    return dict(zip(SIDES, files, strict=True))


def quiet(stage: str, done: int, total: int | None) -> None:
    """No progress."""


def concatenated(europarl: Path, folder: Path, lines: int) -> dict[Side, Path]:
    """The corpus as one plain file a side."""
    paths = by_side(folder / f"europarl.{language}" for language in LANGUAGES.values())
    for side, language in LANGUAGES.items():
        text = chain.from_iterable(read_lines(europarl / f"europarl-part{part}.{language}.xz") for part in (0, 1))
        with paths[side].open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in islice(text, lines))
    return paths


# Which pairs ----------------------------------------------------------------------------------------------------------


def perplexities(
    corpus: CorpusFiles, news: Mapping[Side, Path], wmt: Path, kept: Sequence[int]
) -> dict[str, list[dict[str, Any]]]:
    """Of newstest2012 and 2013 together, by models of the pairs that each method keeps; a row a side and number of pairs."""
    scores = {
        "axelrod": cross_entropy_differences(corpus, news, 1, quiet),
        "moore-lewis-target": cross_entropy_differences(corpus, {"target": news["target"]}, 1, quiet),
    }
    scores |= {f"random-{seed}": random_scores(corpus, seed) for seed in SEEDS}
    chosen = {(name, count): best(corpus, values, pairs=count) for name, values in scores.items() for count in kept}
    rows: dict[str, list[dict[str, Any]]] = {}
    for side, path in by_side((corpus.sources[0], corpus.targets[0])).items():
        vocabulary = model_vocabulary(read_lines(path))
        test = [wmt / f"newstest{year}.{LANGUAGES[side]}.gz" for year in (2012, 2013)]
        asked = list(encoded_blocks(chain.from_iterable(map(read_lines, test)), vocabulary))
        rows[side] = []
        for count in kept:
            row: dict[str, Any] = {"pairs": count}
            for name in scores:
                mask = chosen[name, count]
                row[name] = round(perplexity(model_of(path, mask, vocabulary), asked), 2)
                row[f"{name}-words"] = int(corpus.words[side][mask].sum())
            row["random-mean"] = round(float(np.mean([row[f"random-{seed}"] for seed in SEEDS])), 2)
            print(side, row)
            rows[side].append(row)
    return rows


def model_of(path: Path, mask: NDArray[np.bool_], vocabulary: Vocabulary) -> LanguageModel:
    """A language model of the lines that are kept."""
    lines = (line for line, keep in zip(read_lines(path), mask, strict=True) if keep)
    return LanguageModel.train(list(encoded_blocks(lines, vocabulary)), len(vocabulary))


# What it costs --------------------------------------------------------------------------------------------------------


def cost(whole: Mapping[Side, Path], news: Mapping[Side, Path], folder: Path, pairs: int) -> dict[str, Any]:
    """Time and memory of the whole command on the first `pairs` pairs."""
    part, out = (by_side(folder / f"{name}.{language}" for language in LANGUAGES.values()) for name in ("part", "out"))
    for side in SIDES:
        with whole[side].open("rb") as lines, part[side].open("wb") as file:
            file.writelines(islice(lines, pairs))
    words = sum(len(line.split()) for side in SIDES for line in read_lines(part[side]))
    files = [
        *text_options(*part.values()),
        *text_options(*news.values(), prefix="in-domain-"),
        *text_options(*out.values(), prefix="output-"),
    ]
    command = ["select", *files, "--pairs", pairs // 10]
    took = cost_of(rnnsearch(*command))
    found = {
        "pairs": pairs,
        "words": words,
        "seconds": round(took["passed"], 1),
        "words_per_second": round(words / took["passed"]),
        "peak_mb": took["megabytes"],
    }
    print(found)
    return found


def slope(costs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Seconds and megabytes for each further million words, and what that makes of the paper's 850 million."""
    (_, half, all_) = costs
    millions = (all_["words"] - half["words"]) / 1e6
    seconds, memory = ((all_[key] - half[key]) / millions for key in ("seconds", "peak_mb"))
    more = 850 - all_["words"] / 1e6
    return {
        "seconds_per_million_words": round(seconds, 3),
        "mb_per_million_words": round(memory, 3),
        "minutes_for_850_million": round((all_["seconds"] + more * seconds) / 60, 1),
        "mb_for_850_million": round(all_["peak_mb"] + more * memory),
    }
