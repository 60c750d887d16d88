"""BLEU, alignment error rate and speed of all alignment models, trained alike.

    python benchmarks/alignment/attention_models.py --output RUNS [--data DATA] [--epochs 4] [--pairs 12000] [--jobs 1]

Every alignment model is trained with the same settings and the same seed, on one thread: on the built-in corpus and, with
`--data`, on the first pairs of Multi30k English–French. The built-in test set has gold links; the links of a model of
Multi30k are scored on the five novels of `DATA/alibi`, which are out of domain for it. Times are processor times, which
other programs on the machine affect little. A finished training is not repeated; a stopped one starts again.
"""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.alignment.alignment_error import links_of, scored
from benchmarks.alignment.gold import Aligned, built_in_test, novels
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, cost_of, rnnsearch, run
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.atomic import write_json
from rnnsearch.data.read import read_lines
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
    parser = Parser(__doc__, "output")
    parser.add_argument("--data", type=Path, help="a folder with multi30k/ and alibi/ in it")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=sized(12_000, 200), help="training pairs of each corpus")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="only these models")
    arguments = parser.parse_args()
    on, folder = machine(), arguments.output / f"attention-models-{arguments.epochs}-{arguments.pairs}"
    corpora = [of_built_in(folder / "corpus", arguments.pairs)]
    if arguments.data:
        corpora.append(multi30k(arguments.data, folder / "text", arguments.pairs))
    tasks = [(corpus, name) for corpus in corpora for name in arguments.only]
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        rows = list(pool.map(lambda task: row(folder, task[0], task[1], arguments.epochs), tasks))
    found: dict[str, dict[str, Any]] = {corpus.name: {} for corpus in corpora}
    for (corpus, name), scores in zip(tasks, rows, strict=True):
        found[corpus.name][name] = scores
    asked = {"side_by_side": arguments.jobs, "epochs": arguments.epochs, "pairs": arguments.pairs}
    fixed = {"sizes": SIZES, "words": WORDS, "learning_rate": LEARNING_RATE}
    write_result("alignment/attention_models", machine=on, **asked, **fixed, found=found)


def of_built_in(folder: Path, pairs: int) -> Corpus:
    """The built-in corpus, written to a folder."""
    built_in.corpus(folder, pairs)
    train, valid, test = ((folder / f"{part}.en", folder / f"{part}.fr") for part in ("train", "valid", "test"))
    return Corpus("built-in", train, valid, test, folder / "test.gold")


def multi30k(data: Path, folder: Path, pairs: int) -> Corpus:
    """The beginning of Multi30k English–French, tested on `val`, which is also the development set."""
    train, val = ((data / "multi30k" / f"{part}.en.gz", data / "multi30k" / f"{part}.fr.gz") for part in ("train", "val"))
    beginning = folder / "train.en", folder / "train.fr"
    for path, whole in zip(beginning, train, strict=True):
        write_lines(path, islice(read_lines(whole), pairs))
    return Corpus("multi30k", beginning, val, val, data / "alibi")


@cache
def gold_of(corpus: Corpus) -> Aligned:
    """The sentences that have gold links."""
    return novels(corpus.linked) if corpus.linked.is_dir() else built_in_test(corpus.linked.parent)


def row(folder: Path, corpus: Corpus, name: str, epochs: int) -> dict[str, Any]:
    """The scores of one model, trained unless it has been."""
    model = folder / corpus.name / name.replace(", ", "-").replace(" ", "-")
    result = model / "attention-model.json"
    if not result.exists():
        write_json(result, trained_and_scored(model, corpus, MODELS[name], epochs))
    scores: dict[str, Any] = json.loads(result.read_text())
    aer = f"AER {scores['alignment']['aer']:.3f}" if scores["alignment"] else ""
    print(f"{corpus.name:10} {name:22} BLEU {scores['bleu']:5.2f}  {aer:10} {scores['cpu_hours']:.3f} h", flush=True)
    return scores


def trained_and_scored(model: Path, corpus: Corpus, settings: tuple[str, ...], epochs: int) -> dict[str, Any]:
    """Train, translate the test set, and align the sentences that have gold links."""
    shutil.rmtree(model, ignore_errors=True)
    shared = [f"model.{size}={units}" for size, units in SIZES.items()]
    shared += [f"data.source_words={WORDS}", f"data.target_words={WORDS}", f"training.learning_rate={LEARNING_RATE}"]
    shared += [f"training.max_epochs={epochs}", "training.max_updates=100000", "training.warmup_updates=50"]
    files = dict(zip(("source", "target", "valid-source", "valid-target"), (*corpus.train, *corpus.valid), strict=True))
    texts = [part for option, path in files.items() for part in (f"--{option}", path)]
    command = rnnsearch("train", "--output", model, "--preset", "demo", *texts, *settings_of([*shared, *settings]))
    seconds = cost_of(command, threads=1)["processor"]
    training = json.loads((model / "training.json").read_text())

    evaluation, source, reference = model / "evaluation.json", *corpus.test
    run("evaluate", "--model", model, "--source", source, "--reference", reference, "--json", evaluation)
    scores = json.loads(evaluation.read_text())["all"]
    translator, gold = load(model), gold_of(corpus)
    aligns = translator.system.aligns
    # Of the whole training, validations included, by the time that is its own.
    words = training["target_words_per_second"] * training["hours"] * 3600
    return {
        "settings": settings,
        "bleu": scores["bleu"],
        "signature": scores["bleu_signature"],
        "alignment": scored(gold, links_of(translator, gold)) if aligns else None,
        "aligned": len(gold.gold) if aligns else 0,
        "dev_nll_per_word": training["dev_nll_per_word"],
        "parameters": training["parameters"],
        "updates": training["updates"],
        "words_per_second": round(words / seconds),
        "cpu_hours": round(seconds / 3600, 4),
    }
