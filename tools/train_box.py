"""Train the translators that are installed with the package, on Europarl and Tatoeba.

English to French:

    python tools/train_box.py --data DATA --output RUNS/box                 # the text: Tatoeba is split
    python benchmarks quality/newstest --data DATA --output RUNS --row best --beside RUNS/box/text/tatoeba-train
    python tools/train_box.py --data DATA --output RUNS/box --from RUNS/best
    python benchmarks quality/newstest --data DATA --output RUNS --row longer --beside RUNS/box/text/tatoeba-train
    python tools/train_box.py --data DATA --output RUNS/box-again --from RUNS/box/model RUNS/longer

French to English:

    python tools/train_box.py --data DATA --output RUNS/box-fr-en --pair fr-en --from-nothing

Then, for either pair, what is installed learns the symbols of protected spans, capitals, and text as people write it:

    python tools/train_box.py --data DATA --output RUNS/spans-en-fr --pair en-fr --spans CLDR

CLDR is a folder with the packages of Unicode's CLDR (`npm pack cldr-localenames-full`, and so on; `tools/box/cldr.py` lists
them). The model is trained further on Tatoeba, a part of Europarl, documentation, word lists, phrases made from templates,
sentences in quotation marks, French without accents where it is the source, and everyday words and sentences that were
written for it (`tools/box/everyday`), with `training.augment`, and replaces the installed one. The same command with
another OUTPUT goes on from the model that is then installed.

The model of all of Europarl and Tatoeba is trained further on Tatoeba and a part of Europarl, so that it knows everyday
sentences as well as those of the parliament. From English, the last two lines do the same once more: all of the text, then
the mean of both models trained further on a part of it. With `--from-nothing`, the model of all the text is trained here, as
OUTPUT/first. The result is the mean of the weights before and after the last training, which knows more than either
(Wortsman et al. 2022). Tatoeba has many French sentences for an English one, so it is split by English sentence: no English
sentence of the development or test set, in whatever case and punctuation, is in the training text. The test set takes the
first French sentence of each English one as its reference. The folder OUTPUT/model is the model in float32, with an
alignment layer that learned the links of a part of the text, and its int8 copy becomes a model that is installed with the
package. A stopped training goes on with the same command.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from box import text as box_text
from box.extend import extend
from box.text import EUROPARL_PAIRS, HELD_OUT, LINK_PAIRS, pairs, split, write
from rnnsearch.atomic import write_json
from rnnsearch.model_catalog import BOX, DEFAULT
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, WEIGHTS
from rnnsearch.model_folder import export_model
from rnnsearch.training.ensemble import RECORD

_SETTINGS = {
    "training.decay": "linear",
    "training.max_epochs": 0,
    "training.patience": 0,
    "training.precision": "bf16",  # It falls back to fp32 where the CPU has no such instructions.
}
FIRST_SETTINGS = {
    **_SETTINGS,
    "data.subwords": "bpe",
    "data.max_length": 60,
    "training.learning_rate": 2e-3,
    "training.warmup_updates": 500,
    "training.dropout": 0.0,  # Few pairs are read twice.
    "training.max_updates": 10000,
    "training.validate_every": 2000,
}
SETTINGS = {
    **_SETTINGS,
    "training.learning_rate": 1e-3,
    "training.warmup_updates": 200,
    "training.dropout": 0.1,
    "training.max_updates": 3200,
    "training.validate_every": 800,
    "training.seed": 7,
}
SPAN_SETTINGS = {
    **_SETTINGS,
    "training.learning_rate": 7e-4,
    "training.warmup_updates": 100,
    "training.dropout": 0.1,
    "training.batch_size": 160,
    "training.max_updates": 2000,
    "training.validate_every": 700,
    "training.seed": 21,
    "training.guided_alignment": 0,  # The model aligns already; names would need links, too.
    "training.augment": "capitals,titles,typos,accents,apostrophes,endings,joined,symbols",
}


def prepare_text(data: Path, folder: Path) -> None:
    """Write the training text and the held-out sets of Tatoeba."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = split(pairs(data / "tatoeba", "fra-eng"))
    europarl = [pair for part in (0, 1) for pair in pairs(data / "europarl", f"europarl-part{part}")]
    chosen = random.Random(1).sample(europarl, EUROPARL_PAIRS)
    for name in HELD_OUT:
        write(folder, f"tatoeba-{name}", sets[name])
    write(folder, "tatoeba-train", sets["train"])
    train = sets["train"] + chosen
    write(folder, "links", random.Random(2).sample(train, LINK_PAIRS))
    write(folder, "train", train)  # The last of all: by it, a run that was stopped knows that the text is whole.


def run(*command: object) -> None:
    """A command of rnnsearch."""
    subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)


def files(pair: str, *texts: Path, prefix: str = "--") -> list[object]:
    """The options that name these texts: `--source` and `--target`, or what begins with another prefix."""
    options: list[object] = []
    for text in texts:
        for side, language in zip(("source", "target"), pair.split("-"), strict=True):
            (path,) = text.parent.glob(f"{text.name}.{language}*")
            options += [f"{prefix}{side}", path]
    return options


def train(output: Path, settings: Mapping[str, object], *options: object) -> Path:
    """Train a model with the preset `best` and these settings, unless it has been done; a stopped training goes on."""
    command = ["train", *options, "--preset", "best", "--output", output]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    if (output / "checkpoints").exists():
        command.append("--resume")
    if not (output / RECORD).exists():
        run(*command)
    return output


def averaged(models: list[Path], mean: Path) -> Path:
    """The model of the averaged weights of these models."""
    if not (mean / WEIGHTS).exists():
        run("average", *[part for model in models for part in ("--model", model)], "--output", mean)
    return mean


def teach_spans(data: Path, cldr: Path, pair: str, output: Path) -> Path:
    """Train the installed model further, with the symbols of protected spans in its vocabularies."""
    text = output / "text"
    if not (text / "last.fr").exists():
        box_text.prepare_text(data, cldr, text, pair)
    start = extend(BOX / pair, output / "extended")
    valid = files(pair, text / "tatoeba-dev", prefix="--valid-")
    texts = [text / "last", text / "plain"] if pair.startswith("fr") else [text / "last"]
    return train(output / "model", SPAN_SETTINGS, *files(pair, *texts), *valid, "--from", start)


def install(model: Path, pair: str, links: list[object]) -> None:
    """Train the alignment layer of a model, unless it has one, and let the int8 copy of the model be the installed one.

    The copy is searched with int8 products.
    """
    if not (model / ALIGNMENT_LAYER).exists():
        run("learn-links", "--model", model, *links)
    shutil.rmtree(BOX / pair, ignore_errors=True)
    export_model(model, BOX / pair, "int8")
    settings = json.loads((BOX / pair / CONFIG).read_text(encoding="utf-8"))
    settings["search"]["precision"] = "int8"
    write_json(BOX / pair / CONFIG, settings)


def main() -> None:
    """Train the model, or go on with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with europarl/ and tatoeba/ in it")
    parser.add_argument("--pair", choices=(DEFAULT, "fr-en"), default=DEFAULT, help="the languages, source and target")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument(
        "--from",
        dest="bases",
        type=Path,
        nargs="+",
        default=[],
        metavar="MODEL",
        help="the model to train further, or several, whose weights are averaged; without it, the text is written",
    )
    begin.add_argument("--from-nothing", action="store_true", help="train that model first, on all the text")
    begin.add_argument("--spans", type=Path, metavar="CLDR", help="teach the installed model the symbols of protected spans")
    parser.add_argument("--output", type=Path, required=True, help="where the text and the model go")
    arguments = parser.parse_args()

    data, output, pair, bases = arguments.data, arguments.output, arguments.pair, arguments.bases
    text = output / "text"
    if arguments.spans:
        install(teach_spans(data, arguments.spans, pair, output), pair, files(pair, text / "links"))
        return
    if not (text / "train.fr").exists():
        prepare_text(data, text)
    valid = files(pair, text / "tatoeba-dev", prefix="--valid-")
    if arguments.from_nothing:
        europarl = [data / "europarl" / f"europarl-part{part}" for part in (0, 1)]
        bases = [train(output / "first", FIRST_SETTINGS, *files(pair, *europarl, text / "tatoeba-train"), *valid)]
    if not bases:
        return
    start, model = bases[0] if len(bases) == 1 else averaged(bases, output / "start"), output / "model"
    trained = train(output / "trained", SETTINGS, *files(pair, text / "train"), *valid, "--from", start)
    averaged([start, trained], model)
    shutil.copy(trained / RECORD, model)
    install(model, pair, files(pair, text / "links"))


if __name__ == "__main__":
    main()
