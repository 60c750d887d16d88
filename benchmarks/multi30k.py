"""RNNsearch or RNNencdec on Multi30k English–French: the plain `train` and `evaluate` commands, and what came of them.

    python benchmarks/multi30k.py --data DATA --output RUNS [--model rnnencdec] [--resume]

The settings are the preset's, chosen on `val`; `test_2016_flickr` is translated once, by the best model on `val`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from record import machine, write_result


def main() -> None:
    """Train, evaluate on both sets, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with multi30k/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the trained models go")
    parser.add_argument("--model", choices=("rnnsearch", "rnnencdec"), default="rnnsearch")
    parser.add_argument("--preset", default="small")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    arguments = parser.parse_args()

    on = machine()
    name = f"multi30k-{arguments.model}-{arguments.preset}"
    model = arguments.output / name
    settings = ("model.alignment=none",) if arguments.model == "rnnencdec" else ()
    command = train_command(arguments.data, model, arguments.preset, settings)
    train(command, model, resume=arguments.resume)
    scores = {test: evaluate(arguments.data, model, test) for test in ("val", "test_2016_flickr")}
    write_result(
        name,
        machine=on,
        command=" ".join(["rnnsearch", *command])
        .replace(str(arguments.data), "DATA")
        .replace(str(arguments.output), "RUNS"),
        training=json.loads((model / "training.json").read_text()),
        evaluation=scores,
    )


def train_command(data: Path, model: Path, preset: str, settings: tuple[str, ...] = ()) -> list[str]:
    """The command that trains a model on Multi30k."""
    text = data / "multi30k"
    command: list[object] = ["train", "--source", text / "train.en.gz", "--target", text / "train.fr.gz"]
    command += ["--valid-source", text / "val.en.gz", "--valid-target", text / "val.fr.gz"]
    command += ["--output", model, "--preset", preset]
    return [str(part) for part in command] + [part for setting in settings for part in ("--set", setting)]


def train(command: list[str], model: Path, resume: bool = False) -> None:
    """Train, unless it has been done."""
    if not (model / "training.json").exists():
        run(*command, *(["--resume"] if resume else []))


def evaluate(data: Path, model: Path, test: str, settings: tuple[str, ...] = ()) -> dict[str, Any]:
    """The scores of a model on `val` or `test_2016_flickr`, its translations left beside it."""
    text, written = data / "multi30k", model / f"{'-'.join([test, *settings])}.json"
    sets = ["--source", text / f"{test}.en.gz", "--reference", text / f"{test}.fr.gz"]
    sets += [part for setting in settings for part in ("--set", setting)]
    run("evaluate", "--model", model, *sets, "--json", written, "--output", written.with_suffix(".fr"))
    found = json.loads(written.read_text())
    return {key: value for key, value in found.items() if key not in ("model", "source")}


def run(*command: object) -> None:
    """Run a command of rnnsearch."""
    subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)


if __name__ == "__main__":
    main()
