"""BLEU, alignment error rate and speed of all alignment models, trained alike.

Every alignment model is trained with the same settings and the same seed, on one thread: on the built-in corpus and, with
`--data`, on the first pairs of Multi30k English–French. The built-in test set has gold links; the links of a model of
Multi30k are scored on the five novels of `DATA/alibi`, which are out of domain for it. Times are processor times, which
other programs on the machine affect little. A finished training is not repeated; a stopped one starts again.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.alignment.alignment_error import links_of
from benchmarks.alignment.gold import Aligned, built_in_test, novels
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, cost_of, evaluated, rnnsearch, side_by_side, text_options
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import kept, machine, read_json, sized, write_result
from benchmarks.lib.texts import beginning, sides
from rnnsearch.translation import load

MODELS: dict[str, tuple[str, ...]] = {
    "mlp": (),
    "dot": ("model.alignment=dot",),
    "bilinear": ("model.alignment=bilinear",),
    "location": ("model.alignment=location",),
    "monotonic": ("model.alignment=monotonic",),
    "mlp, encoder forward": ("model.encoder=forward",),
    "none": ("model.alignment=none",),
}
"""By name, what differs from the first."""

SIZES = {"embedding_size": 96, "hidden_size": 128, "alignment_size": 96, "maxout_size": 96}
WORDS = 3000
"""The vocabulary of each language."""
LEARNING_RATE = 0.003


class Corpus(NamedTuple):
    """A text to train on and to test with, and gold links, perhaps of another text."""

    name: str
    train: tuple[Path, Path]
    valid: tuple[Path, Path]
    test: tuple[Path, Path]
    linked: Path
    """Of the test set: its file of gold links; of the novels: their folder."""


def main() -> None:
    """Train what is missing, evaluate, record."""
    arguments = Parser(__doc__, "output", "data?", epochs=4, pairs=sized(12_000, 200), jobs=1, only=MODELS).parse_args()
    on, folder = machine(), arguments.output / f"attention-models-{arguments.epochs}-{arguments.pairs}"
    corpora = [of_built_in(folder / "corpus", arguments.pairs)]
    if arguments.data:
        corpora.append(multi30k(arguments.data, folder / "text", arguments.pairs))
    tasks = [(corpus, name) for corpus in corpora for name in arguments.only]
    rows = side_by_side(lambda task: row(folder, *task, arguments.epochs), tasks, arguments.jobs)
    found = {corpus.name: {name: rows[corpus, name] for name in arguments.only} for corpus in corpora}
    asked = {"side_by_side": arguments.jobs, "epochs": arguments.epochs, "pairs": arguments.pairs}
    fixed = {"sizes": SIZES, "words": WORDS, "learning_rate": LEARNING_RATE}
    write_result("alignment/attention_models", machine=on, **asked, **fixed, found=found)


def of_built_in(folder: Path, pairs: int) -> Corpus:
    """The built-in corpus, written to a folder."""
    built_in.corpus(folder, pairs)
    train, valid, test = (built_in.part(folder, name) for name in ("train", "valid", "test"))
    return Corpus("built-in", train, valid, test, folder / "test.gold")


def multi30k(data: Path, folder: Path, pairs: int) -> Corpus:
    """The beginning of Multi30k English–French, tested on `val`, which is also the development set."""
    train, val = (sides(data, f"multi30k/{part}") for part in ("train", "val"))
    first = beginning(train[0], pairs, folder / "train.en"), beginning(train[1], pairs, folder / "train.fr")
    return Corpus("multi30k", first, val, val, data / "alibi")


@cache
def gold_of(corpus: Corpus) -> Aligned:
    """The sentences that have gold links."""
    return novels(corpus.linked.parent) if corpus.linked.is_dir() else built_in_test(corpus.linked.parent)


def row(folder: Path, corpus: Corpus, name: str, epochs: int) -> dict[str, Any]:
    """The scores of one model, trained unless it has been."""
    model = folder / corpus.name / name.replace(", ", "-").replace(" ", "-")
    result = model / "attention-model.json"
    scores = kept(result, lambda: trained_and_scored(model, corpus, MODELS[name], epochs))
    aer = f"AER {scores['alignment']['aer']:.3f}" if scores["alignment"] else ""
    print(f"{corpus.name:10} {name:22} BLEU {scores['bleu']:5.2f}  {aer:10} {scores['cpu_hours']:.3f} h", flush=True)
    return scores


def trained_and_scored(model: Path, corpus: Corpus, settings: tuple[str, ...], epochs: int) -> dict[str, Any]:
    """Train, translate the test set, and align the sentences that have gold links."""
    shutil.rmtree(model, ignore_errors=True)
    shared = [f"model.{size}={units}" for size, units in SIZES.items()]
    shared += [f"data.source_words={WORDS}", f"data.target_words={WORDS}", f"training.learning_rate={LEARNING_RATE}"]
    shared += [f"training.max_epochs={epochs}", "training.max_updates=100000", "training.warmup_updates=50"]
    files = [*text_options(*corpus.train), *text_options(*corpus.valid, prefix="valid-")]
    command = rnnsearch("train", "--output", model, "--preset", "demo", *files, *settings_of([*shared, *settings]))
    seconds = cost_of(command, threads=1)["processor"]
    training = read_json(model / "training.json")

    scores = evaluated([model], *corpus.test, model / "evaluation.json")["all"]
    translator, gold = load(model), gold_of(corpus)
    aligns = translator.system.aligns
    # Of the whole training, validations included, by the time that is its own.
    words = training["target_words_per_second"] * training["hours"] * 3600
    return {
        "settings": settings,
        "bleu": scores["bleu"],
        "signature": scores["bleu_signature"],
        "alignment": gold.score(links_of(translator, gold)) if aligns else None,
        "aligned": len(gold.gold) if aligns else 0,
        "dev_nll_per_word": training["dev_nll_per_word"],
        "parameters": training["parameters"],
        "updates": training["updates"],
        "words_per_second": round(words / seconds),
        "cpu_hours": round(seconds / 3600, 4),
    }
