"""Grapheme-to-phoneme conversion: the languages of SIGMORPHON 2021, task 1, by the preset `characters`.

    python benchmarks characters/g2p --data DATA --output RUNS [--models 5] [--jobs 2] [--levels low] [--languages fre]
    python benchmarks characters/g2p --data DATA --output RUNS --multilingual [--models 5] [...]

For each language of `DATA/g2p/LEVEL/LANG_train.tsv` and `LANG_dev.tsv` (word, tab, phones), `rnnsearch train` trains one
model, or an ensemble, of which the single model is the first. `--jobs` languages are trained side by side, with one thread
each. The words of `DATA/blind/g2p/LEVEL-LANG_test.gr` are pronounced; nothing else is known here of the test sets. What is
done is kept in RUNS: the same command goes on after it was stopped, and with more `--models` adds to what is there.

With `--multilingual`, the models of each language of low are trained further from one that has learned the words of all
languages of low and medium, each with the name of its language as a feature; those of low four times as often.

Written are `benchmarks/results/g2p/SYSTEM/LEVEL-LANG.txt`, the pronunciations of the test words, a line a word, for the
systems `single` and `ensemble`, or `multilingual` and `multilingual-ensemble`; and, when all languages of a level are done,
the level in `results/characters/g2p-SYSTEM.json`, with the error rates on the development sets, minutes and sizes; what the
record has of other levels stays.
"""

from __future__ import annotations

import argparse
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.characters import models
from benchmarks.lib.command import Parser, side_by_side
from benchmarks.lib.record import RESULTS, machine, read, read_json, sized, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.atomic import write_json
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import error_rates
from rnnsearch.model_folder import load_members
from rnnsearch.translation import Translator

LEVELS = ("low", "medium", "high")
PUBLISHED = {"low": (22.40, 25.10), "medium": (9.35, 10.64), "high": (45.13, 41.94)}
"""The word error rate of the shared task's baseline, an ensemble, on development and test sets: the mean of the
languages (Ashby et al. 2021)."""
BLIND = RESULTS / "g2p"
LENGTH_AND_ACCENT = str.maketrans("", "", "ː\u0300\u0301\u0302\u0304\u030c\u030f\u0311")
"""Drops the marks of vowel length and of pitch accent."""
SIZE = f"model.hidden_size={sized(256, 8)}"
SHARED = (SIZE, "data.remove_duplicates=false", "training.max_updates=6000", "training.validate_every=1000")
"""Settings of the model of all languages, which reads the words of `low` `OFTEN` times."""
OFTEN = {"medium": 1, "low": 4}
DEVELOPMENT_WORDS = sized(50, 5)
"""Of each language, in the development set of the model of all languages."""
FURTHER = (
    *(SIZE, "training.max_updates=800", "training.batch_size=32", "training.dropout=0.5", "training.validate_every=100"),
    *("training.learning_rate=0.002", "training.warmup_updates=50", "training.weight_average=0.99"),
)
"""Settings of the models of a language of `low` that are trained further from it."""


@dataclass(frozen=True)
class Task:
    """A language of the shared task."""

    level: str
    language: str
    data: Path
    runs: Path
    multilingual: bool = False
    """Its words have its name as a feature, and its models are trained further from `parent`."""

    @property
    def name(self) -> str:
        """`medium-fre`."""
        return f"{self.level}-{self.language}"

    @property
    def folder(self) -> Path:
        """Where its models are trained."""
        return self.runs / ("multilingual" if self.multilingual else "") / self.name

    @property
    def parent(self) -> Path:
        """The model of all languages."""
        return self.runs / "multilingual" / "all"

    def table(self, part: str) -> Path:
        """Its training or its development set."""
        given = self.data / "g2p" / self.level / f"{self.language}_{part}.tsv"
        if not self.multilingual:
            return given
        named = self.folder.with_name(f"{self.name}-{part}.tsv")
        if not named.exists():
            write_lines(named, (f"{line}\t{self.language}" for line in read_lines(given)))
        return named

    def test_words(self) -> list[str]:
        """The words of its test set."""
        words = read_lines(self.data / "blind" / "g2p" / f"{self.name}_test.gr")
        return [f"{word}\t{self.language}" for word in words] if self.multilingual else list(words)

    def settings(self) -> tuple[str, ...]:
        """What differs from the preset when its models are trained further."""
        return FURTHER if self.multilingual else ()


def main() -> None:
    """Train, pronounce, score, record."""
    parser = Parser(__doc__, "data", "output", models=1, jobs=1, multilingual=False)
    parser.add_argument("--levels", nargs="*", default=["low", "medium"], choices=LEVELS)
    parser.add_argument("--languages", nargs="*", help="only these")
    arguments = parser.parse_args()
    if arguments.multilingual:
        arguments.levels = ["low"]

    tasks = [task for level in arguments.levels for task in tasks_of(level, arguments)]
    if arguments.multilingual:
        train_all([task for level in OFTEN for task in tasks_of(level, arguments)])
    wanted = [task for task in tasks if not arguments.languages or task.language in arguments.languages]
    side_by_side(lambda task: done(task, arguments.models), wanted, arguments.jobs)
    found = rows(tasks, arguments.models)
    on = machine()
    more = {"shared": models.training_of(tasks[0].parent)} if arguments.multilingual else {}
    for system in systems(arguments.models, arguments.multilingual):
        name = f"characters/g2p-{system}"
        levels = read(name).get("levels", {})
        for level in arguments.levels:
            languages = [row for row in found if (row["system"], row["level"]) == (system, level)]
            if len(languages) == sum(task.level == level for task in tasks):
                levels[level] = {"machine": on, "languages": languages}
        if levels:
            levels = {level: levels[level] for level in LEVELS if level in levels}
            write_result(name, published=PUBLISHED, levels=levels, **more)


def tasks_of(level: str, arguments: argparse.Namespace) -> list[Task]:
    """The languages of a level."""
    paths = sorted((arguments.data / "g2p" / level).glob("*_train.tsv"))
    names = [path.name.removesuffix("_train.tsv") for path in paths]
    return [Task(level, name, arguments.data, arguments.output, arguments.multilingual) for name in names]


def systems(count: int, multilingual: bool) -> list[str]:
    """The systems that so many models make."""
    one, several = ("multilingual", "multilingual-ensemble") if multilingual else ("single", "ensemble")
    return [one] if count == 1 else [one, several]


def done(task: Task, count: int) -> None:
    """Train and pronounce a language, as far as it is not done yet."""
    for system, members in zip(systems(count, task.multilingual), (1, count), strict=False):
        path = task.folder / f"{system}.json"
        if not path.exists() or read_json(path)["models"] != members:
            train(task, members, task.settings())
            write_json(path, pronounced(task, system, members))
    print(task.name, *(f"{row['system']} {row['wer']:.1f}" for row in rows([task], count)), flush=True)


def train(task: Task, count: int, settings: Sequence[str] = ()) -> None:
    """Train so many models, or go on with it, in a process of its own; `settings` are `section.key=value`."""
    start = ["--from", task.parent] if task.multilingual else []
    models.train(task.folder, [task.table("train")], task.table("dev"), settings, *start, models=count)


def train_all(tasks: Sequence[Task]) -> None:
    """Train the model of all languages, or go on with it."""
    parent = tasks[0].parent
    lines = [Random(1).sample(list(read_lines(task.table("dev"))), DEVELOPMENT_WORDS) for task in tasks]
    development = write_lines(parent.with_name("all-dev.tsv"), chain.from_iterable(lines))
    models.train(parent, [task.table("train") for task in tasks for _ in range(OFTEN[task.level])], development, SHARED)


def pronounced(task: Task, system: str, count: int) -> dict[str, Any]:
    """Pronounce the words of development and test set, and score the former."""
    first, *others = load_members(task.folder)[:count]
    translator = Translator([first, *others], task.folder)
    rates, found = models.scored(translator, task.table("dev"))
    theirs = (translator.target_words(phones) for _, phones in read_table(task.table("dev")))
    ours = (one.tokens for one in found)
    phones_alone = error_rates(*([*map(without_length_and_accent, words)] for words in (ours, theirs)))
    blind = translator.translate(task.test_words())
    write_lines(BLIND / system / f"{task.name}.txt", (one.text for one in blind))
    folders = [task.folder, *(task.folder / "members" / str(number) for number in range(2, count + 1))]
    records = [models.training_of(folder) for folder in folders]
    return {
        "level": task.level,
        "language": task.language,
        "system": system,
        "models": count,
        **rates,
        "wer_without_length_and_accent": phones_alone.wer,
        "minutes": round(sum(record["minutes"] for record in records), 2),
        "updates": records[0]["updates"],
        "best_update": records[0]["best_update"],
        "parameters": sum(record["parameters"] for record in records),
    }


def without_length_and_accent(phones: Sequence[str]) -> list[str]:
    """The phones alone: spellings leave out vowel length and pitch accent more often than they show them."""
    return [unicodedata.normalize("NFD", phone).translate(LENGTH_AND_ACCENT) for phone in phones]


def rows(tasks: Sequence[Task], count: int) -> list[dict[str, Any]]:
    """What was found for these languages, as far as they are done."""
    paths = [task.folder / f"{system}.json" for task in tasks for system in systems(count, task.multilingual)]
    return [read_json(path) for path in paths if path.exists()]
