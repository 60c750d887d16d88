"""Train RNNsearch or RNNencdec on Multi30k with `train` and `evaluate`, and record the scores.

The settings are the preset's, chosen on `val`; `test_2016_flickr` is translated once, by the best model on `val`. With
`--models`, so many models are trained from different seeds, and also translate as an ensemble; with `--jobs`, several are
trained side by side and share the cores. With `--diversify`, a model of each direction first translates the text, which
becomes three times as large (data diversification, Nguyen et al. 2020). Every `--member` adds a model with other settings to
the ensemble, trained on the text itself, which differs from the others more than another seed does. With settings `data.*`
it has a vocabulary of its own, and so must be right-to-left (R2L); otherwise it has the vocabulary of the first.

With `--blind`, the captions `DATA/blind/multi30k/TEST.en` are translated too, by the first model and by all, to
`results/blind/multi30k/TEST/SYSTEM.fr`: their references are elsewhere, so that nothing was chosen by them.

BLEU is sacreBLEU's, cased; *lower-cased, tokenised* is the figure that most papers on this text print: Moses tokens of both
sides in lower case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from benchmarks.lib.command import Parser, each, evaluated, run, side_by_side, text_options
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import RESULTS, machine, read_json, write_result
from benchmarks.lib.texts import sides
from rnnsearch.data.lines import read_lines
from rnnsearch.text import Tokenizer


def main() -> None:
    """Train, evaluate on both sets, record."""
    parser = Parser(
        __doc__, "data", "output", "set", "resume", preset="small", models=1, jobs=1, diversify=False, blind=False
    )
    parser.add_argument("--model", choices=("rnnsearch", "rnnencdec"), default="rnnsearch")
    parser.add_argument("--language", choices=("fr", "de"), default="fr", help="the language translated into")
    parser.add_argument("--member", action="append", default=[], metavar="SETTINGS", help="one more: 'KEY=VALUE ...'")
    arguments = parser.parse_args()

    on, data, output, language, jobs = machine(), arguments.data, arguments.output, arguments.language, arguments.jobs
    preset = f"{arguments.preset}{'-diversified' if arguments.diversify else ''}"
    name = f"multi30k-{arguments.model}-{preset}{'' if language == 'fr' else f'-{language}'}"
    settings = [*(["model.alignment=none"] if arguments.model == "rnnencdec" else []), *arguments.set]
    files = training_text(data, language)
    if arguments.diversify:
        files += translations_of_the_text(data, output, arguments.preset, settings, language, arguments.resume, jobs)
    trainings = {}
    for seed in range(1, arguments.models + 1):
        model = output / (name if seed == 1 else f"{name}-{seed}")
        of_seed = settings if seed == 1 else [*settings, f"training.seed={seed}"]
        trainings[model] = train_command(data, model, arguments.preset, of_seed, language, files)
    train_all(trainings, arguments.resume, jobs)
    members = {output / f"{name}-{re.sub('[^a-z0-9]+', '-', member.lower())}": member for member in arguments.member}
    if members:
        prepared = in_the_vocabulary_of(output / name, data, output / f"{name}-text", language)
        more_trainings = {
            model: train_command(
                *(data, model, arguments.preset, [*settings, *member.split()], language),
                None if "data." in member else prepared,
            )
            for model, member in members.items()
        }
        train_all(more_trainings, arguments.resume, jobs)
        trainings, name = {**trainings, **more_trainings}, f"{name}-and-{len(members)}-more"
    models = list(trainings)
    first, *others = (
        {
            "command": " ".join(["rnnsearch", *command]).replace(str(data), "DATA").replace(str(output), "RUNS"),
            "training": read_json(model / "training.json"),
            "evaluation": evaluate_both(data, [model], language),
            **({"member": members[model]} if model in members else {}),
        }
        for model, command in trainings.items()
    )
    more = {"others": others, "ensemble": evaluate_both(data, models, language)} if others else {}
    if arguments.blind:
        for system in (models[:1], models) if others else (models,):
            translate_blind(data, system, preset if len(system) == 1 else name.removeprefix("multi30k-"), language)
    write_result(f"quality/{name}", machine=on, side_by_side=jobs, **first, **more)


Text = list[tuple[Path, Path]]
"""Files of sentences, and of their translations."""


def training_text(data: Path, language: str, source: str = "en") -> Text:
    """That of Multi30k."""
    return [sides(data, "multi30k/train", source, language)]


TEACHER_EPOCHS = 12
"""For how long those train whose translations others learn from: not until they know the text by heart."""


def translations_of_the_text(
    data: Path, output: Path, preset: str, settings: Sequence[str], language: str, resume: bool, jobs: int
) -> Text:
    """The training text twice: its English with new translations, and its translations with new English."""
    directions = [("en", language), (language, "en")]
    models = [output / f"multi30k-{preset}-teacher-{source}-{target}" for source, target in directions]
    settings = [*settings, f"training.max_epochs={TEACHER_EPOCHS}"]
    trainings = {
        model: train_command(data, model, preset, settings, target, source=source)
        for model, (source, target) in zip(models, directions, strict=True)
    }
    train_all(trainings, resume, jobs)
    ((english, other),) = training_text(data, language)
    written = []
    for model, source, (_, target) in zip(models, (english, other), directions, strict=True):
        written.append(model.with_name(f"{model.name}.{target}"))
        if not written[-1].exists():
            run("translate", "--no-split-sentences", "--model", model, source, "--output", written[-1])
    return [(english, written[0]), (written[1], other)]


def in_the_vocabulary_of(model: Path, data: Path, folder: Path, language: str) -> Path:
    """The training text, prepared with the vocabularies of a model."""
    if not folder.exists():
        run("prepare", "--vocabulary-of", model, *files_of(training_text(data, language)), "--output", folder)
    return folder


def files_of(files: Text) -> list[object]:
    """The options that name it."""
    return [part for both in files for part in text_options(*both)]


def train_command(
    data: Path,
    model: Path,
    preset: str,
    settings: Sequence[str] = (),
    language: str = "fr",
    files: Text | Path | None = None,
    source: str = "en",
) -> list[str]:
    """The command that trains a model on Multi30k, or on the given text, or on a prepared folder of it."""
    named = ["--data", files] if isinstance(files, Path) else files_of(files or training_text(data, language, source))
    valid = text_options(*sides(data, "multi30k/val", source, language), prefix="valid-")
    return [*map(str, ("train", *named, *valid, "--output", model, "--preset", preset, *settings_of(settings)))]


def train_all(trainings: Mapping[Path, list[str]], resume: bool, jobs: int) -> None:
    """Train models by their commands, so many side by side."""
    side_by_side(lambda model: train(trainings[model], model, resume, jobs), list(trainings), jobs)


def train(command: Sequence[object], model: Path, resume: bool = False, jobs: int = 1) -> None:
    """Train, unless it has been done; one of so many `jobs` side by side tells how it goes in a file beside the model."""
    if (model / "training.json").exists():
        return
    more = ["--resume"] if resume and model.exists() else []
    if jobs == 1:
        run(*command, *more)
    else:
        run(*command, *more, threads=max(1, (os.cpu_count() or 1) // jobs), log=model.with_name(f"{model.name}.log"))


def evaluate_both(data: Path, models: Sequence[Path], language: str) -> dict[str, Any]:
    """The scores on both sets."""
    return {test: evaluate(data, models, test, language=language) for test in ("val", "test_2016_flickr")}


def evaluate(
    data: Path, models: Sequence[Path], test: str, settings: Sequence[str] = (), language: str = "fr"
) -> dict[str, Any]:
    """The scores of a model, or of several together, on `val` or `test_2016_flickr`; the translations are left beside it."""
    together = [f"{len(models)}-models"] if len(models) > 1 else []
    written = models[0] / f"{'-'.join([test, *together, *settings])}.json"
    lines = written.with_suffix(f".{language}")
    source, reference = sides(data, f"multi30k/{test}", "en", language)
    found = evaluated(models, source, reference, written, "--output", lines, *settings_of(settings))
    kept = {key: value for key, value in found.items() if key not in ("model", "source")}
    return kept | {"lower-cased, tokenised": lower_tokenized(lines, reference, language)}


def translate_blind(data: Path, models: Sequence[Path], system: str, language: str) -> None:
    """Translate the captions of which only the English is in DATA."""
    for source in sorted((data / "blind" / "multi30k").glob("*.en")):
        folder = RESULTS / "blind" / "multi30k" / source.stem
        folder.mkdir(parents=True, exist_ok=True)
        run(
            "translate",
            "--no-split-sentences",
            *each("--model", models),
            source,
            "--output",
            folder / f"{system}.{language}",
        )


def lower_tokenized(hypothesis: Path, reference: Path, language: str) -> dict[str, Any]:
    """BLEU of Moses tokens in lower case."""
    tokenizer, metric = Tokenizer("moses", language), BLEU(tokenize="none", lowercase=True, force=True)
    ours, theirs = ([" ".join(tokenizer.tokenize(line)) for line in read_lines(path)] for path in (hypothesis, reference))
    score = metric.corpus_score(ours, [theirs]).score
    return {"bleu": score, "signature": str(metric.get_signature()), "tokens": "moses"}
