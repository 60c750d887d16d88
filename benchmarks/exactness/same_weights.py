"""The weights after a training on 1, 2, 3 and 4 processes, undisturbed and killed: their hashes.

The texts are the built-in corpus and, with DATA, Multi30k. The settings are those of the preset `demo`, with twelve shards.
A killed run is `rnnsearch train --processes N`, one of whose processes is killed (SIGKILL) at a random moment after each new
checkpoint; it goes on with those that are left, and if none is, it is started again with `--resume`. Runs that have ended
are kept in RUNS, and not repeated.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, rnnsearch, settings, text_options
from benchmarks.lib.processes import children_of
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import sides
from rnnsearch.datasets.builtin import write_corpus

Text = tuple[tuple[Path, Path], tuple[Path, Path]]
"""The files of a training and of a development set."""
SHARDS = sized(12, 2)
PROCESSES = sized((1, 2, 3, 4), (1, 2))


def command(text: Text, output: Path, processes: int, updates: int) -> list[str]:
    """The command line of a training."""
    limits = {
        "max_updates": updates,
        "shards": SHARDS,
        "validate_every": updates // 2,
        "validate_sentences": 50,
        "checkpoint_every": updates // 6,
    }
    return rnnsearch(
        *("train", "--preset", "demo", "--output", output, "--processes", processes),
        *text_options(*text[0]),
        *text_options(*text[1], prefix="valid-"),
        *settings({f"training.{key}": value for key, value in limits.items()}),
    )


def train(text: Text, output: Path, processes: int, updates: int, kills: int, chance: random.Random) -> str:
    """Train, and kill a process so many times; the hash of the weights after the last update."""
    arguments = command(text, output, processes, updates)
    checkpoint = output / "checkpoints" / "last.safetensors"
    if (output / "training.json").exists():
        return _hash_of_weights(checkpoint)
    shutil.rmtree(output, ignore_errors=True)
    seen = None
    while True:
        with (output.parent / f"{output.name}.log").open("a") as log:
            training = subprocess.Popen(arguments, stdout=log, stderr=log)
            while kills and training.poll() is None:
                while training.poll() is None and _written(checkpoint) == seen:
                    time.sleep(0.1)
                seen = _written(checkpoint)
                time.sleep(chance.uniform(0, sized(10, 0.5)))
                if training.poll() is None:
                    os.kill(chance.choice(children_of(training.pid) or [training.pid]), signal.SIGKILL)
                    kills -= 1
            if training.wait() == 0:
                return _hash_of_weights(checkpoint)
        if "--resume" not in arguments:
            arguments.append("--resume")


def _written(checkpoint: Path) -> int | None:
    """When it was written; None where there is none yet."""
    return checkpoint.stat().st_mtime_ns if checkpoint.exists() else None


def _hash_of_weights(checkpoint: Path) -> str:
    from safetensors.numpy import load_file

    digest = hashlib.sha256()
    for name, array in sorted(load_file(checkpoint).items()):
        if name.startswith(("model/", "average/", "optimizer/")):
            digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()


def main() -> None:
    """Train them all; print and record the hashes."""
    arguments = Parser(__doc__, "output", "data?", updates=sized(120, 12), kills=sized(3, 1)).parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    on, folder = machine(), arguments.output.resolve() / "same-weights"
    write_corpus(folder / "builtin", **sized({}, {"train": 200, "valid": 10, "test": 1}))
    texts = {"builtin": (built_in.part(folder / "builtin", "train"), built_in.part(folder / "builtin", "valid"))}
    if arguments.data:
        texts["multi30k"] = sides(arguments.data, "multi30k/train"), sides(arguments.data, "multi30k/val")
    chance = random.Random(1)
    hashes: dict[str, dict[str, str]] = {}
    for name, text in texts.items():
        for processes in PROCESSES:
            for kills in (0, arguments.kills):
                run = f"{processes} processes, {kills} kills"
                output = folder / f"{name}-{processes}-{kills}"
                hashes.setdefault(name, {})[run] = train(text, output, processes, arguments.updates, kills, chance)
                print(f"{name}: {run}: {hashes[name][run]}", flush=True)
    record = {"machine": on, "updates": arguments.updates, "shards": SHARDS, "sha256": hashes}
    write_result("exactness/same_weights", **record)
    differing = sum(len(set(of.values())) - 1 for of in hashes.values())
    print("all runs of a text end at the same bits" if not differing else f"{differing} hashes differ")
