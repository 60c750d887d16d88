"""What do other readings of an n-best list add: of a model of the other direction, of one that writes from right to left?

    python benchmarks/reranking.py --data DATA --output RUNS --reverse MODEL --model MODEL [--model MODEL ...] [--resume]

The models, together, write the list of Multi30k English–French; `--reverse` is a model that translates the other way (the
noisy channel, Yee et al. 2019). The third is trained here, on French whose words stand in the opposite order (Liu et al.
2016): it knows how a sentence ends where the others know how it begins. A translation is worth the sum of their
log-probabilities, with weights, by its words; the weights are chosen on `val`, and `test_2016_flickr` is
translated with those.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from multi30k import lower_tokenized, train, train_command
from numpy.typing import NDArray
from record import machine, write_result

import rnnsearch
from rnnsearch.corpus.read import read_lines
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.files import write_text
from rnnsearch.text import Tokenizer

N = 12
"""Translations of a sentence that are looked at."""

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Of the log-probabilities that the other readings give, beside 1 for that of the models that wrote the list."""


def main() -> None:
    """Train, write the lists, read them again, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with multi30k/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the trained model goes")
    parser.add_argument("--model", type=Path, action="append", required=True, help="a model that writes; may be repeated")
    parser.add_argument("--reverse", type=Path, required=True, help="a model that translates the other way")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    arguments = parser.parse_args()

    on, data, output = machine(), arguments.data / "multi30k", arguments.output
    backwards = output / "multi30k-best-right-to-left"
    train(right_to_left(data, output, backwards), backwards, resume=arguments.resume)
    lists = {
        test: List(data, test, arguments.model, arguments.reverse, backwards) for test in ("val", "test_2016_flickr")
    }
    rows = []
    for name, grid in GRIDS.items():
        weights = max(grid, key=lambda weights: lists["val"].score(weights)["bleu"])
        found = {test: of_test.score(weights) for test, of_test in lists.items()}
        found["test_2016_flickr"]["lower-cased, tokenised"] = lists["test_2016_flickr"].lower_tokenized(weights, output)
        rows.append({"reading": name, "weights": weights, **found})
        print(name, weights, {test: round(scores["bleu"], 2) for test, scores in found.items()}, flush=True)
    names = [model.name for model in arguments.model]
    write_result("reranking", machine=on, models=names, reverse=arguments.reverse.name, candidates=N, rows=rows)


Weights = tuple[float, float]
"""Of the other direction, and of right to left."""

GRIDS: dict[str, list[Weights]] = {
    "as written": [(0.0, 0.0)],
    "with the other direction": [(weight, 0.0) for weight in WEIGHTS],
    "with right to left": [(0.0, weight) for weight in WEIGHTS],
    "with both": list(itertools.product(WEIGHTS, WEIGHTS)),
}


class List:
    """The n-best list of a set, as all of them read it."""

    def __init__(self, data: Path, test: str, models: Sequence[Path], reverse: Path, backwards: Path) -> None:
        sources = list(read_lines(data / f"{test}.en.gz"))
        self._reference = data / f"{test}.fr.gz"
        found = rnnsearch.load(*models).n_best(sources, N)
        self._texts = [[translation.text for translation in translations] for translations in found]
        of_line = [len(translations) for translations in found]
        read = [source for source, n in zip(sources, of_line, strict=True) for _ in range(n)]
        written = [text for texts in self._texts for text in texts]
        words = [" ".join(tokens("en", line)) for line in read]
        turned = [" ".join(reversed(tokens("fr", line))) for line in written]
        scores = [
            [translation.score for translations in found for translation in translations],
            [pair.score for pair in rnnsearch.load(reverse).score(written, read)],
            [pair.score for pair in rnnsearch.load(backwards).score(words, turned, tokenized=True)],
        ]
        lengths = np.array([len(line.split()) + 1 for line in turned])
        ends = np.cumsum(of_line)[:-1]
        self._scores: list[NDArray[np.float64]] = np.split(np.array(scores) / lengths, ends, axis=1)

    def best(self, weights: Weights) -> list[str]:
        """The best translation of every sentence."""
        of_three = np.array([1.0, *weights])
        return [texts[int((of_three @ scores).argmax())] for texts, scores in zip(self._texts, self._scores, strict=True)]

    def score(self, weights: Weights) -> dict[str, Any]:
        """BLEU, cased, with its signature."""
        found = corpus_score(self.best(weights), list(read_lines(self._reference)))
        return {"bleu": found.bleu, "signature": found.bleu_signature}

    def lower_tokenized(self, weights: Weights, folder: Path) -> dict[str, Any]:
        """BLEU of tokens in lower case."""
        path = folder / "reranked.fr"
        write_text(path, "".join(f"{line}\n" for line in self.best(weights)))
        return lower_tokenized(path, self._reference, "fr")


def tokens(language: str, line: str) -> list[str]:
    """Moses tokens."""
    return TOKENIZERS[language].tokenize(line)


TOKENIZERS = {language: Tokenizer("moses", language) for language in ("en", "fr")}


def right_to_left(data: Path, output: Path, model: Path) -> list[str]:
    """The command that trains on French written from right to left; the text is put beside the model."""
    ways: dict[str, Callable[[list[str]], Iterable[str]]] = {"en": iter, "fr": reversed}
    folder = output / f"{model.name}-text" / "multi30k"
    for part, (language, turn) in itertools.product(("train", "val"), ways.items()):
        lines = (" ".join(turn(tokens(language, line))) for line in read_lines(data / f"{part}.{language}.gz"))
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / f"{part}.{language}", "".join(f"{line}\n" for line in lines))
    settings = ["data.tokenizer=whitespace", "training.precision=bf16"]
    return [part.removesuffix(".gz") for part in train_command(folder.parent, model, "best", settings)]


if __name__ == "__main__":
    main()
