"""The paper's task at the scale of two cores: train on Europarl, choose on newstest2012 and 2013, translate newstest2014.

    python benchmarks/quality/newstest.py --data DATA --output RUNS --row rnnsearch-50
    python benchmarks/quality/newstest.py --data DATA --output RUNS --row longer --beside RUNS/box/text/tatoeba-train
    python benchmarks/quality/newstest.py --help     # lists the rows

The rows `rnnencdec-50` and `rnnsearch-50` are the paper's systems with smaller layers and another recipe: 16 million words
are selected from the 948,000 pairs of Europarl in DATA by the news of 2008 to 2011, the shortlists have 30,000 words, and
both are trained for the same number of updates. The other rows are models of subwords, trained on all pairs, and on text
given by `--beside`: `best` from nothing, and `longer` from the first translator of `tools/train_box.py`, which was made from
`best`. Two rows go on from `longer` on the 8 million words of Europarl that are most like the news of 2008 to 2011, and on
that news: `selected`, and `right-to-left`, which the encoder and the embeddings of `longer` serve as well; `selected-longer`
reads that text once more. `installed-1` and `installed-2` go on from the translator that is installed with the package, on
the same text in two orders. The rows `adapted` train another row further on the news alone, a `mean` is a model of the
averaged weights of rows that went on from one another, and `together` is an ensemble. Trainings stop at SIGTERM and are
resumed by the same command.

A finished row is scored on the development set and translates newstest2014 to `results/newstest2014/ROW.fr`. Rows of whole
words translate three times: with `[UNK]`, with `[UNK]` forbidden, and with `[UNK]` replaced. The row that is best on the
development set also translates newsdiscusstest2015 to `results/blind/newsdiscusstest2015.fr`, with `--blind`: its reference
is elsewhere, so that nothing was chosen by it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, cost_of, rnnsearch
from benchmarks.lib.command import run as run_command
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import RESULTS, machine, sized, write_result
from rnnsearch.atomic import write_json
from rnnsearch.model_catalog import default_model
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.text.vocabularies import Vocabularies

TRANSLATIONS = RESULTS / "newstest2014"
DEVELOPMENT = ("newstest2012", "newstest2013")
SUBWORDS = {"data.subwords": "bpe", "data.max_length": 60}
UNKNOWN = {"": (), "forbid-unk": ("--set", "search.forbid_unk=true"), "replace-unk": ("--set", "search.replace_unk=true")}
"""What becomes of `[UNK]`, by the ending of the name."""


@dataclass(frozen=True)
class Row:
    """How a row is trained."""

    preset: str
    data: dict[str, Any]
    """Settings of `prepare`."""
    settings: dict[str, Any]
    """Settings of `train`."""
    updates: int
    words: str = ""
    """How many words are selected from Europarl; nothing where all of it is read."""


_FAST = {
    "training.learning_rate": 2e-3,
    "training.warmup_updates": 500,
    "training.dropout": 0.0,  # Few pairs are read twice.
    "training.max_epochs": 0,
    "training.validate_every": 2000,
    "training.precision": "bf16",  # It falls back to fp32 where the CPU has no such instructions.
}
_PAPER = {
    **_FAST,
    "model.embedding_size": 256,
    "model.hidden_size": 320,
    "model.alignment_size": 256,
    "model.maxout_size": 200,
    "training.optimizer": "adam",
    "training.initialization": "glorot",
    "training.loss_normalization": "tokens",
    "training.shuffle": "epoch",
    "training.decay": "linear",
    "training.weight_average": 0.999,
}
ROWS = {
    "rnnencdec-50": Row("paper", {}, {**_PAPER, "model.alignment": "none"}, 3000, "16M"),
    "rnnsearch-50": Row("paper", {}, _PAPER, 3000, "16M"),
    "best": Row("best", SUBWORDS, _FAST, 8000),
}


INSTALLED = "installed"


@dataclass(frozen=True)
class FurtherRow:
    """How a row is trained further."""

    start: str
    """The row, or the folder in RUNS, that it goes on from; `INSTALLED` for the installed translator."""
    settings: dict[str, Any]
    news: bool = False
    """Its text is the news of 2008 to 2011."""
    words: str = ""
    """Its text is the news, and so many words of Europarl. Without news and words, it is all of Europarl and the text beside
    it."""
    turned: bool = False
    """It writes right to left, and starts with the weights of a model that writes left to right."""


_LONGER = {
    **_FAST,
    "training.learning_rate": 1e-3,
    "training.warmup_updates": 200,
    "training.validate_every": 1000,
    "training.max_updates": 5000,
    "training.seed": 3,
}
_SELECTED = {**_LONGER, "training.max_updates": 2600, "training.dropout": 0.1}
_ADAPTED = {
    "training.learning_rate": 3e-4,
    "training.warmup_updates": 100,
    "training.max_epochs": 3,
    "training.dropout": 0.2,
    "training.validate_every": 100,
}
FURTHER = {
    "adapted": FurtherRow("best", _ADAPTED, news=True),
    "longer": FurtherRow("box/model", _LONGER),
    "selected": FurtherRow("longer", _SELECTED, words="8M"),
    "selected-adapted": FurtherRow("selected", _ADAPTED, news=True),
    "selected-longer": FurtherRow("selected", {**_SELECTED, "training.seed": 4}, words="8M"),
    "selected-longer-adapted": FurtherRow("selected-longer", _ADAPTED, news=True),
    "right-to-left": FurtherRow("longer", {**_SELECTED, "training.learning_rate": 2e-3}, words="8M", turned=True),
    "installed-1": FurtherRow(INSTALLED, {**_SELECTED, "training.seed": 5}, words="8M"),
    "installed-1-adapted": FurtherRow("installed-1", _ADAPTED, news=True),
    "installed-2": FurtherRow(INSTALLED, {**_SELECTED, "training.seed": 6}, words="8M"),
    "installed-2-adapted": FurtherRow("installed-2", {**_ADAPTED, "training.seed": 6}, news=True),
}
MEANS = {
    "mean": ("selected-longer", "selected-longer-adapted"),
    "installed-1-mean": ("installed-1", "installed-1-adapted"),
    "installed-2-mean": ("installed-2", "installed-2-adapted"),
    "installed-mean": ("installed-1-mean", "installed-2-mean"),
}
"""The rows whose weights are averaged."""
ENSEMBLES = {"together": ("installed-1-mean", "installed-2-mean")}
"""The rows that translate together."""


def run(*command: object, cost: Path | None = None) -> None:
    """A command of rnnsearch. Its seconds and its largest memory are written to `cost`."""
    if cost is None:
        run_command(*command)
        return
    found = cost_of(rnnsearch(*command))
    write_json(cost, {"seconds": round(found["passed"], 1), "peak_megabytes": found["megabytes"]})


def text(data: Path, *names: str, valid: bool = False) -> list[object]:
    """The options that name these texts, which lie in `data`, as the training text or as the development set."""
    prefix, options = "--valid-" if valid else "--", []
    for name in names:
        for side, language in (("source", "en"), ("target", "fr")):
            (path,) = data.glob(f"*/{name}.{language}.*z")
            options += [f"{prefix}{side}", path]
    return options


def named(models: Sequence[Path]) -> list[object]:
    """The options that name these models."""
    return [part for model in models for part in ("--model", model)]


def prepared(data: Path, output: Path, row: Row, beside: Path | None) -> Path:
    """Europarl, or what is selected from it, and the text beside it, prepared for this row."""
    kind = "-".join(str(value).lower() for value in (row.words, *row.data.values()) if value)
    folder = output / f"prepared-{kind}"
    if not (folder / "prepare.json").exists():
        files = selected(data, output, row.words) if row.words else all_pairs(data, beside)
        cost = folder.with_suffix(".cost.json")
        run("prepare", *files, "--output", folder, "--preset", row.preset, *settings_of(row.data), cost=cost)
    return folder


def all_pairs(data: Path, beside: Path | None) -> list[object]:
    """The options that name Europarl and the text beside it."""
    more = ["--source", f"{beside}.en", "--target", f"{beside}.fr"] if beside else []
    return [*text(data, "europarl-part0", "europarl-part1"), *more]


def further_text(data: Path, output: Path, further: FurtherRow, beside: Path | None) -> list[object]:
    """The options that name the training text of a row that goes on from another."""
    if not (further.news or further.words):
        return all_pairs(data, beside)
    return text(data, "news2008-2011") + (selected(data, output, further.words) if further.words else [])


def start_of(output: Path, further: FurtherRow) -> Path:
    """The model that a row goes on from."""
    start = default_model() if further.start == INSTALLED else output / further.start
    if not further.turned:
        return start
    turned = output / f"{further.start}-turned"
    if not (turned / WEIGHTS).exists():
        system = load_system(start)
        config = replace(system.config, data=replace(system.config.data, right_to_left=True))
        save_settings(turned, system.changed(config))
        vocabularies = Vocabularies.load(turned, config.data)
        save_weights(turned / WEIGHTS, system.changed(config, vocabularies))
    return turned


def selected(data: Path, output: Path, words: str) -> list[object]:
    """So many words of Europarl, selected by the news of 2008 to 2011, as the training text."""
    files = [output / f"selected-{words}.{language}" for language in ("en", "fr")]
    if not files[1].exists():
        count = int(words.removesuffix("M")) * sized(1_000_000, 100)
        news = [next(data.glob(f"*/news2008-2011.{language}.*z")) for language in ("en", "fr")]
        run(
            *("select", *text(data, "europarl-part0", "europarl-part1"), "--words", count),
            *("--in-domain-source", news[0], "--in-domain-target", news[1]),
            *("--output-source", files[0], "--output-target", files[1]),
        )
    return ["--source", files[0], "--target", files[1]]


def train(data: Path, output: Path, name: str, updates: int | None, beside: Path | None, given: Sequence[str]) -> Path:
    """The model of a row, trained as far as the budget goes; resumed if it was begun."""
    model = output / name
    if (model / "training.json").exists():
        return model
    valid = text(data, *DEVELOPMENT, valid=True)
    if name in FURTHER:
        further = FURTHER[name]
        training_text = further_text(data, output, further, beside)
        settings = {**further.settings, **({"training.max_updates": updates} if updates else {})}
        command = [*training_text, "--from", start_of(output, further), *settings_of(settings)]
    else:
        row = ROWS[name]
        settings = {**row.settings, "training.max_updates": updates or row.updates}
        command = ["--data", prepared(data, output, row, beside), "--preset", row.preset, *settings_of(settings)]
    resume = ["--resume"] if (model / "checkpoints").exists() else []
    command += [*valid, *settings_of([*given]), "--output", model, *resume]
    run("train", *command, cost=model.with_suffix(".cost.json"))
    return model


def lexicon(data: Path, model: Path) -> None:
    """Learn the lexicon of a model of whole words from the news of 2008 to 2011."""
    if not (model / "lexicon.tsv").exists():
        run("lexicon", "--model", model, *text(data, "news2008-2011"))


def start_scores(output: Path, name: str) -> dict[str, float]:
    """BLEU of a finished row on the development sets."""
    found = {test: json.loads((output / name / f"{name}-{test}.json").read_text()) for test in DEVELOPMENT}
    return {test: result["all"]["bleu"] for test, result in found.items()}


def scored(data: Path, models: Sequence[Path], name: str, options: Sequence[str]) -> dict[str, Any]:
    """Development scores; the translations of newstest2014 are written to the results."""
    found = {}
    for test in DEVELOPMENT:
        written = models[0] / f"{name}-{test}.json"
        source, target = (next(data.glob(f"*/{test}.{language}.*z")) for language in ("en", "fr"))
        run("evaluate", *named(models), "--source", source, "--reference", target, "--json", written, *options)
        result = json.loads(written.read_text())
        found[test] = {key: result[key] for key in ("all", "tokenized_bleu", "seconds", "unfinished")}
    (unseen,) = data.glob("*/newstest2014.en.gz")
    translate(models, unseen, TRANSLATIONS / f"{name}.fr", options)
    return found


def translate(models: Sequence[Path], source: Path, target: Path, options: Sequence[str]) -> None:
    """Translate a text of which the other side is not here."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run("translate", "--no-split-sentences", *named(models), source, "--output", target, *options)


def main() -> None:
    """Train a row, score it, and record it."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--row", choices=[*ROWS, *FURTHER, *MEANS, *ENSEMBLES], required=True)
    parser.add_argument("--updates", type=int, help="updates of the row, if not its own number")
    parser.add_argument("--beside", type=Path, metavar="PREFIX", help="PREFIX.en and .fr are trained on beside Europarl")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training")
    parser.add_argument("--jobs", type=int, default=1, help="processes that translate; the translations do not depend on it")
    parser.add_argument("--blind", action="store_true", help="also translate newsdiscusstest2015")
    arguments = parser.parse_args()

    on, data, output, name = machine(), arguments.data, arguments.output, arguments.row
    if members := {**MEANS, **ENSEMBLES}.get(name):
        models = [output / member for member in members]
        if name in MEANS:
            run("average", *named(models), "--output", output / name)
            models = [output / name]
        record: dict[str, Any] = {"members": members}
    else:
        models = [train(data, output, name, arguments.updates, arguments.beside, arguments.set)]
        record = {
            "training": json.loads((models[0] / "training.json").read_text()),
            "starts": len(list((models[0] / "tensorboard").iterdir())),  # each start writes a file of its own
            "settings": arguments.set,
            "from": start_scores(output, FURTHER[name].start) if name in FURTHER and FURTHER[name].news else None,
            "costs": {path.name.partition(".")[0]: json.loads(path.read_text()) for path in output.glob("*.cost.json")},
        }
    whole_words = name in ROWS and ROWS[name].preset == "paper"
    aligned = whole_words and "encdec" not in name
    if aligned:
        lexicon(data, models[0])
    jobs = ("--jobs", str(arguments.jobs))
    if arguments.blind:
        translate(models, data / "blind" / "newsdiscusstest2015.en", RESULTS / "blind" / "newsdiscusstest2015.fr", jobs)
    scores = {}
    for ending, search in (UNKNOWN if whole_words else {"": ()}).items():
        if ending != "replace-unk" or aligned:
            scores[ending or "as it is"] = scored(data, models, f"{name}-{ending}" if ending else name, [*search, *jobs])
    write_result(f"quality/newstest-{name}", machine=on, **record, scores=scores)


if __name__ == "__main__":
    main()
