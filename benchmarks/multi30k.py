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
    text = arguments.data / "multi30k"
    folder = arguments.output / f"multi30k-{arguments.model}-{arguments.preset}"
    train = ["train", "--source", text / "train.en.gz", "--target", text / "train.fr.gz"]
    train += ["--valid-source", text / "val.en.gz", "--valid-target", text / "val.fr.gz"]
    train += ["--output", folder, "--preset", arguments.preset]
    if arguments.model == "rnnencdec":
        train += ["--set", "model.alignment=none"]
    if not (folder / "training.json").exists():
        run(*train, *(["--resume"] if arguments.resume else []))

    scores = {}
    for name in ("val", "test_2016_flickr"):
        written = folder / f"{name}.json"
        hypotheses = folder / f"{name}.fr"
        sets = ["--source", text / f"{name}.en.gz", "--reference", text / f"{name}.fr.gz"]
        run("evaluate", "--model", folder, *sets, "--json", written, "--output", hypotheses)
        found = json.loads(written.read_text())
        scores[name] = {key: value for key, value in found.items() if key not in ("model", "source")}
    training = json.loads((folder / "training.json").read_text())
    command = " ".join(["rnnsearch", *(str(part) for part in train)]).replace(str(arguments.data), "DATA")
    write_result(
        f"multi30k-{arguments.model}-{arguments.preset}",
        machine=on,
        command=command.replace(str(arguments.output), "RUNS"),
        training=training,
        evaluation=scores,
    )


def run(*command: object) -> None:
    """Run a command of rnnsearch."""
    subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)


if __name__ == "__main__":
    main()
