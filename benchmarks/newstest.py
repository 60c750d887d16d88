"""The paper's task at the scale of two cores: train on Europarl, choose on newstest2012 and 2013, translate newstest2014.

    python benchmarks/newstest.py --data DATA --output RUNS --row rnnsearch-50
    python benchmarks/newstest.py --data DATA --output RUNS --row best
    python benchmarks/newstest.py --data DATA --output RUNS --row adapted
    python benchmarks/newstest.py --data DATA --output RUNS --row together --members best adapted best-right-to-left

The rows `rnnencdec-50` and `rnnsearch-50` begin as systems of one `rnnsearch reproduce --scale wmt14`, of smaller layers: it
selects 16 million words of the 948,000 pairs of Europarl in DATA by the news of 2008 to 2011, and trains five systems for
`--hours` together. Its own report is on newstest2013, which is half of its development set, because the references of
newstest2014 are not in DATA. The two systems are then trained further, each to the same number of updates. The other rows
are models of subwords, trained on all pairs; `adapted` trains the row `best` further on the news of 2008 to 2011, and
`together` is an ensemble. Trainings stop at SIGTERM and are resumed by the same command.

A finished row is scored on the development set and translates newstest2014 to `results/newstest2014/ROW.fr`. Rows of whole
words translate three times: with `[UNK]`, with `[UNK]` forbidden, and with `[UNK]` replaced.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from record import RESULTS, machine, write_result

TRANSLATIONS = RESULTS / "newstest2014"
SUBWORDS = {"data.subwords": "bpe", "data.max_length": 60}
UNKNOWN = {"": (), "forbid-unk": ("--set", "search.forbid_unk=true"), "replace-unk": ("--set", "search.replace_unk=true")}
"""What becomes of `[UNK]`, by the ending of the name."""


@dataclass(frozen=True)
class Row:
    """How a row is trained."""

    data: dict[str, Any]
    """Settings of `prepare`."""
    settings: dict[str, Any]
    """Settings of `train`."""


_MILLION = {
    "training.learning_rate": 2e-3,
    "training.warmup_updates": 500,
    "training.dropout": 0.0,  # Few pairs are read twice.
    "training.max_epochs": 0,
    "training.validate_every": 1000,
    "training.precision": "bf16",  # It falls back to fp32 where the CPU has no such instructions.
}
ROWS = {
    "best": Row(SUBWORDS, _MILLION),
    "best-2": Row(SUBWORDS, {**_MILLION, "training.seed": 2}),
    "best-right-to-left": Row({**SUBWORDS, "data.right_to_left": True}, _MILLION),
}
REPRODUCED = {"rnnencdec-50": "RNNencdec-50", "rnnsearch-50": "RNNsearch-50-longer"}
"""Systems of the reproduction that are trained further: the row and the model's folder."""
UPDATES = {"rnnencdec-50": 3000, "rnnsearch-50": 3000}
"""Updates of a row where they are not those of a model of subwords."""
SUBWORD_UPDATES = 16_000
REPRODUCTION = {
    "model.embedding_size": 256,
    "model.hidden_size": 320,
    "model.alignment_size": 256,
    "model.maxout_size": 200,
    "training.optimizer": "adam",
    "training.learning_rate": 2e-3,
    "training.warmup_updates": 500,
    "training.initialization": "glorot",
    "training.loss_normalization": "tokens",
    "training.shuffle": "epoch",
    "training.weight_average": 0.999,
    "training.validate_every": 1000,
    "training.precision": "bf16",
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


def prepared(data: Path, output: Path, row: Row, beside: Path | None) -> Path:
    """Europarl, and the text beside it, prepared for this row."""
    kind = "-".join(str(value).lower() for value in row.data.values())
    folder = output / f"prepared-{kind}"
    if not (folder / "prepare.json").exists():
        files = text(data, "europarl-part0", "europarl-part1")
        if beside:
            files += ["--source", f"{beside}.en", "--target", f"{beside}.fr"]
        run("prepare", *files, "--output", folder, *settings_of(row.data))
    return folder


def reproduced(data: Path, output: Path, name: str, updates: int, hours: float) -> Path:
    """A model of the reproduction, which is run, or goes on, first; then it is trained to so many updates."""
    news = [next(data.glob(f"*/news2008-2011.{language}.*z")) for language in ("en", "fr")]
    test = [next(data.glob(f"*/newstest2013.{language}.*z")) for language in ("en", "fr")]
    valid = text(data, "newstest2012", "newstest2013", valid=True)
    reproduction, model = output / "reproduction", output / name
    run(
        *("reproduce", "--scale", "wmt14", "--output", reproduction, "--budget-hours", hours),
        *text(data, "europarl-part0", "europarl-part1"),
        *("--words", "16M", "--in-domain-source", news[0], "--in-domain-target", news[1]),
        *valid,
        *("--test-source", test[0], "--test-target", test[1]),
        *settings_of(REPRODUCTION),
    )
    if not model.exists():
        copy = model.with_suffix(".copy")
        shutil.copytree(reproduction / "models" / REPRODUCED[name], copy, dirs_exist_ok=True)
        (copy / "training.json").unlink()
        copy.rename(model)
    if not (model / "training.json").exists():
        settings = {
            **REPRODUCTION,
            "training.decay": "none",
            "training.max_epochs": 0,
            "training.max_updates": updates,
            "model.alignment": "none" if "encdec" in name else "mlp",
            "search.forbid_unk": False,
        }
        run(
            *("train", "--data", reproduction / "prepared" / "50", *valid, "--preset", "paper", *settings_of(settings)),
            *("--output", model, "--resume"),
        )
    return model


def train(data: Path, output: Path, name: str, updates: int, beside: Path | None, given: Sequence[str]) -> Path:
    """The model of a row, trained as far as the budget goes; resumed if it was begun."""
    model = output / name
    if (model / "training.json").exists():
        return model
    valid = text(data, "newstest2012", "newstest2013", valid=True)
    if name == "adapted":
        command = [*text(data, "news2008-2011"), "--from", output / "best", *settings_of(ADAPTED)]
    else:
        settings = {**ROWS[name].settings, "training.max_updates": updates}
        command = ["--data", prepared(data, output, ROWS[name], beside), "--preset", "best", *settings_of(settings)]
    resume = ["--resume"] if (model / "checkpoints").exists() else []
    run("train", *command, *valid, *[part for one in given for part in ("--set", one)], "--output", model, *resume)
    return model


def lexicon(data: Path, model: Path) -> None:
    """Learn the lexicon of a model of whole words from the news of 2008 to 2011."""
    if not (model / "lexicon.tsv").exists():
        run("lexicon", "--model", model, *text(data, "news2008-2011"))


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
    parser.add_argument("--row", choices=[*REPRODUCED, *ROWS, "adapted", "together"], required=True)
    parser.add_argument("--members", nargs="+", default=[], help="the rows that translate together")
    parser.add_argument("--hours", type=float, default=6, help="training time of the systems of the reproduction")
    parser.add_argument("--updates", type=int, help="updates of the row")
    parser.add_argument("--beside", type=Path, metavar="PREFIX", help="PREFIX.en and .fr are trained on beside Europarl")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training")
    arguments = parser.parse_args()

    on, data, output, name = machine(), arguments.data, arguments.output, arguments.row
    if name == "together":
        models = [output / member for member in arguments.members]
        record: dict[str, Any] = {"members": arguments.members}
    else:
        updates = arguments.updates or UPDATES.get(name, SUBWORD_UPDATES)
        if name in REPRODUCED:
            models = [reproduced(data, output, name, updates, arguments.hours)]
        else:
            models = [train(data, output, name, updates, arguments.beside, arguments.set)]
        record = {
            "training": json.loads((models[0] / "training.json").read_text()),
            "starts": len(list((models[0] / "tensorboard").iterdir())),  # each start writes a file of its own
            "settings": arguments.set,
        }
    aligned = name in REPRODUCED and "encdec" not in name
    if aligned:
        lexicon(data, models[0])
    scores = {}
    for ending, search in (UNKNOWN if name in REPRODUCED else {"": ()}).items():
        if ending != "replace-unk" or aligned:
            scores[ending or "as it is"] = scored(data, models, f"{name}-{ending}" if ending else name, search)
    write_result(f"newstest2014/{name}", machine=on, **record, scores=scores)


if __name__ == "__main__":
    main()
