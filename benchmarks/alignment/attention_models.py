"""BLEU, alignment error rate and speed of all alignment models, trained alike.

    python benchmarks/alignment/attention_models.py --output RUNS [--data DATA] [--epochs 4] [--pairs 12000] [--jobs 1]

Every alignment model is trained with the same settings and the same seed, on one thread: on the built-in corpus and, with
`--data`, on the first pairs of Multi30k English–French. The built-in test set has gold links; the links of a model of
Multi30k are scored on the five novels of `DATA/alibi`, which are out of domain for it. Times are processor times, which
other programs on the machine affect little. A finished training is not repeated; a stopped one starts again.

The record is `results/attention-models.json`, and the page `docs/reference/alignment-models.md` is rendered from it; with
`--render`, this alone is done.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.alignment.alignment_error import Aligned, links_of, novels, scored
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from benchmarks.pages.quality import read, table
from benchmarks.quality.multi30k import run
from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import from_preset
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.text import Tokenizer
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
TESTED = 500
"""Pairs of the built-in test set, and of its development set."""

RECORD = "attention-models"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "alignment-models.md"


class Corpus(NamedTuple):
    """A text to train on and to test with, and gold links, perhaps of another text."""

    name: str
    train: tuple[Path, Path]
    valid: tuple[Path, Path]
    test: tuple[Path, Path]
    linked: Path
    """Of the test set: its file of gold links; of the novels: their folder."""


def main() -> None:
    """Train what is missing, evaluate, record, render."""
    parser = Parser(__doc__)
    parser.add_argument("--output", type=Path, help="where the corpus and the trained models go")
    parser.add_argument("--data", type=Path, help="a folder with multi30k/ and alibi/ in it")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=12_000, help="training pairs of each corpus")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="only these models")
    parser.add_argument("--render", action="store_true", help="only render the page from the record")
    arguments = parser.parse_args()
    if not arguments.render:
        if arguments.output is None:
            parser.error("--output is needed, unless with --render")
        on, folder = machine(), arguments.output / f"{RECORD}-{arguments.epochs}-{arguments.pairs}"
        corpora = [built_in(folder / "corpus", arguments.pairs)]
        if arguments.data:
            corpora.append(multi30k(arguments.data, folder / "text", arguments.pairs))
        tasks = [(corpus, name) for corpus in corpora for name in arguments.only]
        with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
            rows = list(pool.map(lambda task: row(folder, *task, arguments.epochs), tasks))
        found: dict[str, dict[str, Any]] = {corpus.name: {} for corpus in corpora}
        for (corpus, name), scores in zip(tasks, rows, strict=True):
            found[corpus.name][name] = scores
        asked = {"side_by_side": arguments.jobs, "epochs": arguments.epochs, "pairs": arguments.pairs}
        fixed = {"sizes": SIZES, "words": WORDS, "learning_rate": LEARNING_RATE}
        write_result(RECORD, machine=on, **asked, **fixed, found=found)
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def built_in(folder: Path, pairs: int) -> Corpus:
    """The built-in corpus, written to a folder."""
    if not (folder / "train.en").exists():
        write_corpus(folder, train=pairs, valid=TESTED, test=TESTED)
    train, valid, test = ((folder / f"{part}.en", folder / f"{part}.fr") for part in ("train", "valid", "test"))
    return Corpus("built-in", train, valid, test, folder / "test.gold")


def multi30k(data: Path, folder: Path, pairs: int) -> Corpus:
    """The beginning of Multi30k English–French, tested on `val`, which is also the development set."""
    train, val = ((data / "multi30k" / f"{part}.en.gz", data / "multi30k" / f"{part}.fr.gz") for part in ("train", "val"))
    beginning = folder / "train.en", folder / "train.fr"
    for path, whole in zip(beginning, train, strict=True):
        write_text(path, "".join(f"{line}\n" for line in islice(read_lines(whole), pairs)))
    return Corpus("multi30k", beginning, val, val, data / "alibi")


@cache
def gold_of(corpus: Corpus) -> Aligned:
    """The sentences that have gold links."""
    if corpus.linked.is_dir():
        return novels(corpus.linked)
    sides = []
    for path, language in zip(corpus.test, ("en", "fr"), strict=True):
        tokenizer = Tokenizer(from_preset("demo").data.tokenizer, language)
        sides.append([tokenizer.tokenize(line) for line in read_lines(path)])
    return Aligned(*sides, read_gold(corpus.linked))


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
    command: list[object] = [sys.executable, "-m", "rnnsearch", "train", "--output", model, "--preset", "demo"]
    command += [part for option, path in files.items() for part in (f"--{option}", path)]
    command += [part for setting in (*shared, *settings) for part in ("--set", setting)]
    log = model.with_name(f"{model.name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as told:
        process = subprocess.Popen(
            [str(part) for part in command], env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=told, stderr=told
        )
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the training failed: {log}")
    seconds = used.ru_utime + used.ru_stime
    training = json.loads((model / "training.json").read_text())

    evaluation, source, reference = model / "evaluation.json", *corpus.test
    run("evaluate", "--model", model, "--source", source, "--reference", reference, "--json", evaluation)
    scores = json.loads(evaluation.read_text())["all"]
    translator, gold = load(model), gold_of(corpus)
    aligns = translator.system.model.aligns
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


if __name__ == "__main__":
    main()
