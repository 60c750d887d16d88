"""The paper's task at the scale of two cores: train on Europarl, choose on newstest2012 and 2013, translate newstest2014.

    python benchmarks quality/newstest --data DATA --output RUNS --row rnnsearch-50
    python benchmarks quality/newstest --data DATA --output RUNS --row longer --beside RUNS/box/text/tatoeba-train
    python benchmarks quality/newstest --help     # lists the rows

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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser, cost_of, each, evaluated, rnnsearch, run, text_options
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import RESULTS, machine, read_json, sized, write_result
from benchmarks.lib.texts import sides
from rnnsearch.atomic import write_json
from rnnsearch.model_catalog import default_model
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.text.vocabularies import Vocabularies

TRANSLATIONS = RESULTS / "newstest2014"
EUROPARL, NEWS = ("europarl-part0", "europarl-part1"), "news2008-2011"
DEVELOPMENT = ("newstest2012", "newstest2013")
UNKNOWN = {"": (), "forbid-unk": ("--set", "search.forbid_unk=true"), "replace-unk": ("--set", "search.replace_unk=true")}
"""What becomes of `[UNK]`, by the ending of the name."""
INSTALLED = "installed"


@dataclass(frozen=True)
class Row:
    """How a row is trained."""

    settings: dict[str, Any]
    """Settings of `train`."""
    text: tuple[str, ...] = ("europarl",)
    """`europarl` is all of it and the text beside it, `8M` so many words that are selected from it, and `news` the news."""
    start: str = ""
    """The row, or the folder in RUNS, that it goes on from; `INSTALLED` for the installed translator."""
    turned: bool = False
    """It writes right to left, and starts with the weights of a model that writes left to right."""
    preset: str = "best"
    data: dict[str, Any] = field(default_factory=dict)
    """The preset, and the settings of `prepare`, of a row that is trained from nothing."""


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
    "training.max_updates": 3000,
}
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
_NEWS = ("news", "8M")
ROWS = {
    "rnnencdec-50": Row({**_PAPER, "model.alignment": "none"}, ("16M",), preset="paper"),
    "rnnsearch-50": Row(_PAPER, ("16M",), preset="paper"),
    "best": Row({**_FAST, "training.max_updates": 8000}, data={"data.subwords": "bpe", "data.max_length": 60}),
    "adapted": Row(_ADAPTED, ("news",), "best"),
    "longer": Row(_LONGER, start="box/model"),
    "selected": Row(_SELECTED, _NEWS, "longer"),
    "selected-adapted": Row(_ADAPTED, ("news",), "selected"),
    "selected-longer": Row({**_SELECTED, "training.seed": 4}, _NEWS, "selected"),
    "selected-longer-adapted": Row(_ADAPTED, ("news",), "selected-longer"),
    "right-to-left": Row({**_SELECTED, "training.learning_rate": 2e-3}, _NEWS, "longer", turned=True),
    "installed-1": Row({**_SELECTED, "training.seed": 5}, _NEWS, INSTALLED),
    "installed-1-adapted": Row(_ADAPTED, ("news",), "installed-1"),
    "installed-2": Row({**_SELECTED, "training.seed": 6}, _NEWS, INSTALLED),
    "installed-2-adapted": Row({**_ADAPTED, "training.seed": 6}, ("news",), "installed-2"),
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


def files_of(data: Path, *names: str, prefix: str = "") -> list[object]:
    """The options that name these texts of DATA, as the training text or, with a prefix, as another."""
    return [part for name in names for part in text_options(*sides(data, f"*/{name}"), prefix=prefix)]


def costing(cost: Path, *command: object) -> None:
    """Run a command of rnnsearch; its seconds and its largest memory are written to a file."""
    found = cost_of(rnnsearch(*command))
    write_json(cost, {"seconds": round(found["passed"], 1), "peak_megabytes": found["megabytes"]})


def text_of(data: Path, output: Path, row: Row, beside: Path | None) -> list[object]:
    """The options that name the training text of a row."""
    options: list[object] = []
    for part in row.text:
        if part == "europarl":
            options += files_of(data, *EUROPARL)
            options += text_options(f"{beside}.en", f"{beside}.fr") if beside else []
        else:
            options += files_of(data, NEWS) if part == "news" else selected(data, output, part)
    return options


def selected(data: Path, output: Path, words: str) -> list[object]:
    """So many words of Europarl, selected by the news of 2008 to 2011, as the training text."""
    files = output / f"selected-{words}.en", output / f"selected-{words}.fr"
    if not files[1].exists():
        count = int(words.removesuffix("M")) * sized(1_000_000, 100)
        news = files_of(data, NEWS, prefix="in-domain-")
        run("select", *files_of(data, *EUROPARL), "--words", count, *news, *text_options(*files, prefix="output-"))
    return text_options(*files)


def prepared(output: Path, row: Row, text: Sequence[object]) -> Path:
    """The text of a row that is trained from nothing, prepared."""
    kind = "-".join(str(value).lower() for value in (*(set(row.text) - {"europarl"}), *row.data.values()))
    folder = output / f"prepared-{kind}"
    if not (folder / "prepare.json").exists():
        cost, options = folder.with_suffix(".cost.json"), ("--preset", row.preset, *settings_of(row.data))
        costing(cost, "prepare", *text, "--output", folder, *options)
    return folder


def start_of(output: Path, row: Row) -> Path:
    """The model that a row goes on from."""
    start = default_model() if row.start == INSTALLED else output / row.start
    if not row.turned:
        return start
    turned = output / f"{row.start}-turned"
    if not (turned / WEIGHTS).exists():
        system = load_system(start)
        config = replace(system.config, data=replace(system.config.data, right_to_left=True))
        save_settings(turned, system.changed(config))
        vocabularies = Vocabularies.load(turned, config.data)
        save_weights(turned / WEIGHTS, system.changed(config, vocabularies))
    return turned


def train(data: Path, output: Path, name: str, beside: Path | None) -> Path:
    """The model of a row; a training that was stopped is resumed."""
    model, row = output / name, ROWS[name]
    if not (model / "training.json").exists():
        text = text_of(data, output, row, beside)
        if row.start:
            start = [*text, "--from", start_of(output, row)]
        else:
            start = ["--data", prepared(output, row, text), "--preset", row.preset]
        valid = files_of(data, *DEVELOPMENT, prefix="valid-")
        resume = ["--resume"] if (model / "checkpoints").exists() else []
        options = [*settings_of(row.settings), "--output", model, *resume]
        costing(model.with_suffix(".cost.json"), "train", *start, *valid, *options)
    return model


def start_scores(output: Path, name: str) -> dict[str, float]:
    """BLEU of a finished row on the development sets."""
    return {test: read_json(output / name / f"{name}-{test}.json")["all"]["bleu"] for test in DEVELOPMENT}


def scored(data: Path, models: Sequence[Path], name: str, options: Sequence[str]) -> dict[str, Any]:
    """Development scores; the translations of newstest2014 are written to the results."""
    found = {}
    for test in DEVELOPMENT:
        files = sides(data, f"*/{test}")
        result = evaluated(models, *files, models[0] / f"{name}-{test}.json", *options)
        found[test] = {key: result[key] for key in ("all", "tokenized_bleu", "seconds", "unfinished")}
    translate(models, next(data.glob("*/newstest2014.en.*z")), TRANSLATIONS / f"{name}.fr", options)
    return found


def translate(models: Sequence[Path], source: Path, target: Path, options: Sequence[str]) -> None:
    """Translate a text of which the other side is not here."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run("translate", "--no-split-sentences", *each("--model", models), source, "--output", target, *options)


def main() -> None:
    """Train a row, score it, and record it."""
    parser = Parser(__doc__, "data", "output", blind=False)
    parser.add_argument("--row", choices=[*ROWS, *MEANS, *ENSEMBLES], required=True)
    parser.add_argument("--beside", type=Path, metavar="PREFIX", help="PREFIX.en and .fr are trained on beside Europarl")
    arguments = parser.parse_args()

    on, data, output, name = machine(), arguments.data, arguments.output, arguments.row
    if members := {**MEANS, **ENSEMBLES}.get(name):
        models = [output / member for member in members]
        if name in MEANS:
            run("average", *each("--model", models), "--output", output / name)
            models = [output / name]
        record: dict[str, Any] = {"members": members}
    else:
        models = [train(data, output, name, arguments.beside)]
        record = {
            "training": read_json(models[0] / "training.json"),
            "starts": len(list((models[0] / "tensorboard").iterdir())),  # each start writes a file of its own
            "from": start_scores(output, ROWS[name].start) if ROWS[name].text == ("news",) else None,
            "costs": {path.name.partition(".")[0]: read_json(path) for path in output.glob("*.cost.json")},
        }
    whole_words = name in ROWS and ROWS[name].preset == "paper"
    aligned = whole_words and "encdec" not in name
    if aligned and not (models[0] / "lexicon.tsv").exists():
        run("lexicon", "--model", models[0], *files_of(data, NEWS))
    if arguments.blind:
        translate(models, data / "blind" / "newsdiscusstest2015.en", RESULTS / "blind" / "newsdiscusstest2015.fr", ())
    scores = {}
    for ending, search in (UNKNOWN if whole_words else {"": ()}).items():
        if ending != "replace-unk" or aligned:
            scores[ending or "as it is"] = scored(data, models, f"{name}-{ending}" if ending else name, search)
    write_result(f"quality/newstest-{name}", machine=on, **record, scores=scores)
