"""What every benchmark does: read its options, run `rnnsearch`, and measure what a program costs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path

from benchmarks.lib.record import BACKGROUND, TINY

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


COMMON = {
    "data": "the folder of the texts: multi30k/, europarl/, wmt/, alibi/, …",
    "output": "where texts and models go",
    "peers": "the folder that peers/install.py wrote",
    "model": "the folder of a model",
    "source": "the text to translate",
}
"""Options that many scripts have, each of which names a path."""


class Parser(argparse.ArgumentParser):
    """The options of a script; the description is its docstring, and `common` are some of `COMMON`, all of them required."""

    def __init__(self, doc: str | None, *common: str) -> None:
        super().__init__(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        for name in common:
            self.add_argument(f"--{name}", type=Path, required=True, help=COMMON[name])

    def add_speed(self, rounds: int | None = None) -> None:
        """Add the options of a measurement of speed."""
        self.add_argument("--threads", type=int, default=os.cpu_count())
        if rounds is not None:
            self.add_argument("--rounds", type=int, default=rounds)
        self.add_argument("--background", type=float, default=BACKGROUND, help="cores that other programs may keep busy")


def environment(threads: int | None, **more: str) -> dict[str, str]:
    """The environment of a program that has so many threads, or as many as it likes; no GPU, and output as it comes."""
    own = {name: value for name, value in os.environ.items() if name not in THREADS}
    alike = {"CUDA_VISIBLE_DEVICES": "", "PYTHONUNBUFFERED": "1", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
    return {**own, **(dict.fromkeys(THREADS, str(threads)) if threads else {}), **alike, **more}


def rnnsearch(*command: object) -> list[str]:
    """The command line of a command of rnnsearch; where it trains, with the settings of a tiny size if that is wanted."""
    more: Mapping[str, object] = {}
    if TINY and command[0] == "train":
        more = TINY_TRAINING if "--from" in command else {**TINY_SIZES, **TINY_TRAINING}
    settings = [part for key, value in more.items() for part in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "rnnsearch", *map(str, command), *settings]


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
    script, watched = Path(__file__).with_name("cost.py"), ["--temporary", *map(str, temporary)] if temporary else []
    own = {"TMPDIR": str(temporary[0].resolve())} if temporary else {}
    variables = environment(threads, **own) if threads or own else None
    command = [sys.executable, str(script), *watched, "--", *command]
    with nullcontext() if text is None else text.open("rb") as file:
        done = subprocess.run(command, check=True, env=variables, stdin=file, stdout=subprocess.PIPE, text=True)
    cost: dict[str, float] = json.loads(done.stdout)
    return cost


def settings(values: Mapping[str, object] | Sequence[str]) -> list[str]:
    """The options `--set`, of settings given as `section.key=value` or as a mapping."""
    given = [f"{key}={str(value).lower()}" for key, value in values.items()] if isinstance(values, Mapping) else values
    return [part for setting in given for part in ("--set", setting)]
