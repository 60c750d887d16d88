"""The speed and the error rates of g2p-en, and of a model of this package, on the same words of CMUdict.

    python -m venv G2P_EN && G2P_EN/bin/pip install numpy && G2P_EN/bin/pip install --no-deps g2p-en
    rnnsearch download cmudict --output cmudict
    python benchmarks characters/pronouncers --dictionary cmudict/cmudict.tsv --output RUNS --g2p-en G2P_EN/bin/python

Held out are 5,000 words of letters from a to z. Our model is trained on the rest by the preset `characters`; with
`--model`, it is another one, whose phones may be others than those of CMUdict, and which then has no error rates. g2p-en
pronounces the words by its network, without looking them up, though that has been trained on CMUdict, and has seen most of
them. Speeds are by the processor time of one thread, those of int8 where the processor has it, and the record is
`benchmarks/results/characters/pronouncers-MODEL.json`.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import rnnsearch
from benchmarks.characters import models
from benchmarks.lib.command import Parser, environment
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import error_rates

PRONOUNCE = Path(__file__).parents[1] / "peers" / "g2p_en" / "pronounce.py"
HELD_OUT, DEVELOPMENT = sized((5000, 1000), (40, 20))
SETTINGS: dict[str, dict[str, Any]] = {
    "fp32": {},
    "fp32, greedy": {"beam": 1},
    "int8": {"precision": "int8"},
    "int8, greedy": {"precision": "int8", "beam": 1},
}

Pairs = list[tuple[str, str]]


def main() -> None:
    """Train, pronounce, score, record."""
    parser = Parser(__doc__, "output")
    parser.add_argument("--dictionary", type=Path, required=True, help="CMUdict as a table")
    parser.add_argument("--g2p-en", dest="python", type=Path, required=True, help="the Python that has g2p-en")
    parser.add_argument("--model", help="a model of letters, instead of one that is trained on the dictionary")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    pairs = [(word, phones) for word, phones in read_table(arguments.dictionary) if re.fullmatch("[a-z]+", word)]
    random.Random(1).shuffle(pairs)
    held_out = pairs[:HELD_OUT]
    words = [word for word, _ in held_out]
    model = arguments.model or train(arguments.output, pairs[HELD_OUT:])
    found = {}

    given = subprocess.run(
        [arguments.python, PRONOUNCE], check=True, env=environment(1), input="\n".join(words), capture_output=True, text=True
    )
    theirs = json.loads(given.stdout)
    found["g2p-en, its network"] = row(theirs["seconds"], theirs["phones"], held_out)

    translator = rnnsearch.load(model)
    phones = {phone for _, right in held_out for phone in right.split()}
    has_its_phones = phones <= set(translator.system.vocabularies.target.words)
    for name, settings in SETTINGS.items():
        translator.translate(words[:1000], **settings)  # the first time, the graphs are built
        began = time.process_time()
        written = translator.translate(words, **settings)
        seconds = time.process_time() - began
        found[f"rnnsearch, {name}"] = row(seconds, [one.tokens for one in written] if has_its_phones else None, held_out)
    for name, one in found.items():
        print(f"{name}: {one['words_per_second']:,} words/s" + (f", WER {one['wer']:.1f}" if "wer" in one else ""))
    write_result(
        f"characters/pronouncers-{Path(model).name}",
        machine=machine(),
        model=Path(model).name,
        version=theirs["version"],
        words=len(words),
        parameters=translator.system.model.count_parameters(),
        found=found,
    )


def train(folder: Path, pairs: Pairs) -> Path:
    """Train a model on these words, or go on with it."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"dev": pairs[:DEVELOPMENT], "train": pairs[DEVELOPMENT:]}
    for name, chosen in tables.items():
        write_lines(folder / f"{name}.tsv", (f"{word}\t{phones}" for word, phones in chosen))
    models.train(folder / "cmudict", [folder / "train.tsv"], folder / "dev.tsv")
    return folder / "cmudict"


def row(seconds: float, phones: Sequence[Sequence[str]] | None, held_out: Pairs) -> dict[str, Any]:
    """Words a second, and the error rates, where the phones are those of the dictionary."""
    speed = {"words_per_second": round(len(held_out) / seconds)}
    return speed if phones is None else speed | asdict(error_rates(phones, [right.split() for _, right in held_out]))
