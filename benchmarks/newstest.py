"""The paper's task at the scale of two cores: train on Europarl, choose on newstest2012 and 2013, translate newstest2014.

    python benchmarks/newstest.py --data DATA --output RUNS --row rnnsearch-50 --minutes 120
    python benchmarks/newstest.py --data DATA --output RUNS --row best --updates 30000 [--set training.precision=bf16]
    python benchmarks/newstest.py --data DATA --output RUNS --row adapted
    python benchmarks/newstest.py --data DATA --output RUNS --row together --members best adapted best-right-to-left

A row is trained on the 948,000 pairs of Europarl in DATA, except `adapted`, which trains the row `best` further on the news
of 2008 to 2011, and `together`, an ensemble. Trainings stop at SIGTERM and are resumed by the same command. `--minutes`
limits rows that are compared with each other, which are trained at a constant rate; the other rows take `--updates` updates,
over which the rate falls to zero. A finished row is scored on the development set and translates newstest2014, whose
references are not in DATA, to `results/newstest2014/ROW.fr`. Rows of whole words translate three times: with `[UNK]`, with
`[UNK]` forbidden, and with `[UNK]` replaced.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record import RESULTS, machine, write_result

from rnnsearch.experiments.experiment import CONSTANT_RATE

TRANSLATIONS = RESULTS / "newstest2014"
WORDS = {"data.minimum_count": 2, "data.max_length": 50}
SUBWORDS = {"data.subwords": "bpe", "data.subword_pieces": 16_000, "data.max_length": 80}
UNKNOWN = {"": (), "forbid-unk": ("--set", "search.forbid_unk=true"), "replace-unk": ("--set", "search.replace_unk=true")}
"""What becomes of `[UNK]`, by the ending of the name."""


@dataclass(frozen=True)
class Row:
    """How a row is trained."""

    data: dict[str, Any]
    """Settings of `prepare`."""
    preset: str
    settings: dict[str, Any] = field(default_factory=dict)
    limited_by_minutes: bool = False


_PAPER_LIKE = {**{f"training.{key}": value for key, value in CONSTANT_RATE.items()}, "training.learning_rate": 1e-3}
_LARGE = {
    "model.embedding_size": 512,
    "model.hidden_size": 512,
    "model.alignment_size": 512,
    "model.maxout_size": 512,
    "model.tied_embedding": True,
    "training.learning_rate": 2e-3,
    "training.dropout": 0.1,
    "training.max_epochs": 0,
    "training.warmup_updates": 1000,
}
ROWS = {
    "rnnencdec-50": Row(WORDS, "small", {**_PAPER_LIKE, "model.alignment": "none", "training.dropout": 0.0}, True),
    "rnnsearch-50": Row(WORDS, "small", {**_PAPER_LIKE, "training.dropout": 0.0}, True),
    "best": Row(SUBWORDS, "best", _LARGE),
    "best-2": Row(SUBWORDS, "best", {**_LARGE, "training.seed": 2}),
    "best-right-to-left": Row({**SUBWORDS, "data.right_to_left": True}, "best", _LARGE),
}
ADAPTED = {
    "training.learning_rate": 3e-4,
    "training.warmup_updates": 100,
    "training.max_epochs": 3,
    "training.dropout": 0.2,
    "training.validate_every": 100,
}


def run(*command: object) -> None:
    """A command of rnnsearch."""
    subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)


def text(data: Path, *names: str, valid: bool = False) -> list[object]:
    """The options that name these texts, which lie in `data`, as the training text or as the development set."""
    prefix, options = "--valid-" if valid else "--", []
    for name in names:
        for side, language in (("source", "en"), ("target", "fr")):
            (path,) = data.glob(f"*/{name}.{language}.*z")
            options += [f"{prefix}{side}", path]
    return options


def settings_of(settings: dict[str, Any]) -> list[object]:
    """The options that make these settings."""
    return [part for key, value in settings.items() for part in ("--set", f"{key}={str(value).lower()}")]


def prepared(data: Path, output: Path, row: Row) -> Path:
    """Europarl, prepared for this row."""
    kind = "-".join(str(value).lower() for value in row.data.values())
    folder = output / f"prepared-{kind}"
    if not (folder / "prepare.json").exists():
        run("prepare", *text(data, "europarl-part0", "europarl-part1"), "--output", folder, *settings_of(row.data))
    return folder


def train(data: Path, output: Path, name: str, budget: dict[str, Any], given: Sequence[str]) -> Path:
    """The model of a row, trained as far as the budget goes; resumed if it was begun."""
    model = output / name
    if (model / "training.json").exists():
        return model
    valid = text(data, "newstest2012", "newstest2013", valid=True)
    if name == "adapted":
        command = [*text(data, "news2008-2011"), "--from", output / "best", *settings_of(ADAPTED)]
    else:
        row = ROWS[name]
        command = ["--data", prepared(data, output, row), "--preset", row.preset, *settings_of({**row.settings, **budget})]
    resume = ["--resume"] if (model / "checkpoints").exists() else []
    run("train", *command, *valid, *[part for one in given for part in ("--set", one)], "--output", model, *resume)
    return model


def lexicon(data: Path, model: Path) -> None:
    """Learn the lexicon of a model of whole words from the first half of the text."""
    if not (model / "lexicon.tsv").exists():
        run("lexicon", "--model", model, *text(data, "europarl-part0"))


def scored(data: Path, models: Sequence[Path], name: str, search: Sequence[str]) -> dict[str, Any]:
    """Development scores; the translations of newstest2014 are written to the results."""
    named = [part for model in models for part in ("--model", model)]
    found = {}
    for test in ("newstest2012", "newstest2013"):
        written = models[0] / f"{name}-{test}.json"
        source, target = (next(data.glob(f"*/{test}.{language}.*z")) for language in ("en", "fr"))
        run("evaluate", *named, "--source", source, "--reference", target, "--json", written, *search)
        result = json.loads(written.read_text())
        found[test] = {key: result[key] for key in ("all", "tokenized_bleu", "seconds", "unfinished")}
    (unseen,) = data.glob("*/newstest2014.en.gz")
    run("translate", *named, unseen, "--output", TRANSLATIONS / f"{name}.fr", *search)
    return found


def main() -> None:
    """Train a row, score it, and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with europarl/ and wmt/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where prepared text and models go")
    parser.add_argument("--row", choices=[*ROWS, "adapted", "together"], required=True)
    parser.add_argument("--members", nargs="+", default=[], help="the rows that translate together")
    parser.add_argument("--minutes", type=float, default=120, help="training time of rows that are compared")
    parser.add_argument("--updates", type=int, default=30_000, help="updates of other rows")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training")
    arguments = parser.parse_args()

    on, data, output, name = machine(), arguments.data, arguments.output, arguments.row
    if name == "together":
        models = [output / member for member in arguments.members]
        record: dict[str, Any] = {"members": arguments.members}
    else:
        limited = name in ROWS and ROWS[name].limited_by_minutes
        budget = {"training.max_minutes": arguments.minutes} if limited else {"training.max_updates": arguments.updates}
        models = [train(data, output, name, budget, arguments.set)]
        training = json.loads((models[0] / "training.json").read_text())
        record = {"training": training, "settings": arguments.set}
    kinds = UNKNOWN if name in ROWS and ROWS[name].data == WORDS else {"": ()}
    if len(kinds) > 1 and ROWS[name].settings.get("model.alignment") != "none":
        lexicon(data, models[0])
    scores = {}
    for ending, search in kinds.items():
        if ending != "replace-unk" or ROWS[name].settings.get("model.alignment") != "none":
            scores[ending or "as it is"] = scored(data, models, f"{name}-{ending}" if ending else name, search)
    write_result(f"newstest2014/{name}", machine=on, **record, scores=scores)


if __name__ == "__main__":
    main()
