"""What every benchmark does: read its options, run `rnnsearch`, and measure what a program costs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.lib.record import BACKGROUND, BENCHMARKS, TINY, read_json

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
TINY_SIZES = {"model.embedding_size": 8, "model.hidden_size": 8, "model.alignment_size": 8, "model.maxout_size": 8}
TINY_TRAINING = {
    "training.max_updates": 4,
    "training.validate_every": 2,
    "training.checkpoint_every": 2,
    "training.max_epochs": 2,
    "training.batch_size": 8,
    "training.validate_sentences": 4,
}
"""The settings of all trainings at a tiny size."""
K = TypeVar("K")
T = TypeVar("T")


COMMON: dict[str, dict[str, Any]] = {
    "data": {"type": Path, "help": "the folder of the texts: multi30k/, europarl/, wmt/, alibi/, …"},
    "output": {"type": Path, "help": "where texts and models go"},
    "peers": {"type": Path, "help": "the folder that peers/install has written"},
    "model": {"type": Path, "help": "the folder of a model"},
    "source": {"type": Path, "help": "the text to translate"},
    "target": {"type": Path, "help": "the translation of the text"},
    "set": {"action": "append", "default": [], "metavar": "KEY=VALUE", "help": "a further setting of the trainings"},
    "resume": {"action": "store_true", "help": "go on with a run that was stopped"},
    "threads": {"type": int, "default": os.cpu_count(), "help": "of each program"},
    "background": {"type": float, "default": BACKGROUND, "help": "cores that other programs may keep busy"},
}
"""Options that many scripts have."""
HELP = {
    "beam": "of the search",
    "blind": "also translate texts whose references are elsewhere",
    "clients": "that ask at the same time",
    "count": "how many are chosen",
    "diversify": "train on translations of the text too, in both directions",
    "epochs": "of each training",
    "here": "measure the packages of this environment",
    "jobs": "trainings side by side",
    "kills": "processes that are killed in a killed run",
    "lines": "the first lines of the text",
    "memory": "measure memory, not speed",
    "models": "how many are trained, each with another seed",
    "multilingual": "the languages of low, from a model of all languages",
    "only": "not all of them",
    "pairs": "of sentences to train on",
    "rounds": "how often each is measured",
    "repeats": "updates and translations, whose median counts",
    "scale": "the share of the attackers",
    "seconds": "the length of a window",
    "seed": "of what is chosen at random",
    "smoke": "a trial on a CPU, all tiny",
    "updates": "of each training",
    "waiting": "compare how long threads are busy waiting",
}
"""What the options are that have a default value."""
SPEED = ("threads", "background")
"""The common options of what measures speed."""


class Parser(argparse.ArgumentParser):
    """The options of a script, whose docstring is the description.

    `common` are some of `COMMON`; paths are required, except those whose name here ends with `?`. `defaults` are further
    options by their default values: False is a flag, and a collection is what to choose some of.
    """

    def __init__(self, doc: str | None, *common: str, **defaults: Any) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=f"python benchmarks {sys.argv[0]}", description=doc, formatter_class=form)
        for name in common:
            known = COMMON[name.removesuffix("?")]
            required = known.get("type") is Path and not name.endswith("?")
            self.add_argument(f"--{name.removesuffix('?')}", **known, required=required)
        for name, value in defaults.items():
            self.add_argument(f"--{name}", help=HELP.get(name, ""), **_kind(name, value))


def _kind(name: str, value: Any) -> dict[str, Any]:
    """How an option with this default value is parsed."""
    if value is False:
        return {"action": "store_true"}
    if isinstance(value, str | int | float):
        return {"type": type(value), "default": value, "choices": ("full", "small", "tiny") if name == "size" else None}
    return {"nargs": "+", "choices": value, "default": list(value)}


def environment(threads: int | None, **more: str) -> dict[str, str]:
    """The environment of a program that has so many threads, or as many as it likes; no GPU, and output as it comes."""
    own = {name: value for name, value in os.environ.items() if name not in THREADS}
    alike = {"CUDA_VISIBLE_DEVICES": "", "PYTHONUNBUFFERED": "1", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
    return {**own, **(dict.fromkeys(THREADS, str(threads)) if threads else {}), **alike, **more}


def script(*command: object) -> list[str]:
    """The command line of a script, such as `quality/box`, and its arguments."""
    return [sys.executable, str(BENCHMARKS), *map(str, command)]


def rnnsearch(*command: object) -> list[str]:
    """The command line of a command of rnnsearch; where it trains, with the settings of a tiny size if that is wanted."""
    more: Mapping[str, object] = {}
    if TINY and command[0] == "train":
        more = TINY_TRAINING if "--from" in command else {**TINY_SIZES, **TINY_TRAINING}
    return [sys.executable, "-m", "rnnsearch", *map(str, (*command, *settings(more)))]


def run(*command: object, threads: int | None = None, log: Path | None = None) -> None:
    """Run a command of rnnsearch, with so many threads; what it tells is added to a file if there is one."""
    with ExitStack() as stack:
        if log:
            log.parent.mkdir(parents=True, exist_ok=True)
        told = stack.enter_context(log.open("a")) if log else None
        variables = environment(threads) if threads else None
        subprocess.run(rnnsearch(*command), check=True, env=variables, stdout=told, stderr=told)


def cost_of(
    command: list[str], threads: int | None = None, temporary: Sequence[Path] = (), text: Path | None = None
) -> dict[str, float]:
    """Run a program: its processor seconds, the seconds that passed, and its peak memory in MB.

    `text` is a file that it reads as its standard input. With `temporary`, folders in which it may keep files until it ends,
    also their peak size together; the first one is where the program has its temporary files.
    """
    watched = ["--temporary", *map(str, temporary)] if temporary else []
    own = {"TMPDIR": str(temporary[0].resolve())} if temporary else {}
    variables = environment(threads, **own) if threads or own else None
    command = [sys.executable, str(BENCHMARKS / "lib" / "cost.py"), *watched, "--", *command]
    with nullcontext() if text is None else text.open("rb") as file:
        done = subprocess.run(command, check=True, env=variables, stdin=file, stdout=subprocess.PIPE, text=True)
    cost: dict[str, float] = json.loads(done.stdout)
    return cost


def settings(values: Mapping[str, object] | Sequence[str]) -> list[object]:
    """The options `--set`, of settings given as `section.key=value` or as a mapping."""
    if isinstance(values, Mapping):
        values = [f"{key}={str(value).lower()}" for key, value in values.items()]
    return each("--set", values)


def each(option: str, values: Iterable[object]) -> list[object]:
    """An option that is given once for each value."""
    return [part for value in values for part in (option, value)]


def text_options(source: object, target: object, *, prefix: str = "") -> list[object]:
    """The options that name both sides of a text: `--source` and `--target`, or others that end so."""
    return [f"--{prefix}source", source, f"--{prefix}target", target]


def evaluated(models: Iterable[object], source: Path, reference: Path, written: Path, *options: object) -> dict[str, Any]:
    """The scores of a model, or of several together, on a test set, by `evaluate`, which writes them to a JSON file."""
    files = ("--source", source, "--reference", reference, "--json", written)
    run("evaluate", *each("--model", models), *files, *options)
    return read_json(written)


def side_by_side(work: Callable[[K], T], tasks: Sequence[K], jobs: int) -> dict[K, T]:
    """What some work finds for each task; so many of them are done at once."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return dict(zip(tasks, pool.map(work, tasks), strict=True))
