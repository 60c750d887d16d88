"""The settings of the preset `characters`: what other ones do to the pronunciation of three languages.

The languages are those of `low` of SIGMORPHON 2021 with the most errors, Khmer, Latvian and Slovene; each has 800 words to
learn from and 100 to be scored on. Every row of `CHANGES` is trained once, with one thread, and what is trained already in
RUNS stays. The error rates are those of the 300 words together.
"""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from typing import Any

from benchmarks.characters.g2p import Task, train
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, read_json, sized, write_result
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import error_rates
from rnnsearch.model_folder import load_system
from rnnsearch.translation import Translator

LANGUAGES = ("khm", "lav", "slv")
SHORT = "training.max_updates=1400"
CHANGES: dict[str, tuple[str, ...]] = {
    "preset": (),
    "more-updates": ("training.max_updates=2400",),
    "fewer-updates": (SHORT,),
    "less-dropout": (SHORT, "training.dropout=0.35"),
    "right-to-left": (SHORT, "data.right_to_left=true"),
    "code-points": (SHORT, "data.target_units=codepoints"),
    "word-dropout": (SHORT, "training.word_dropout=0.1"),
    "consistency": ("training.max_updates=1000", "training.consistency=2"),
}
"""What differs from the preset, by the name of the folder."""


def main() -> None:
    """Train, score, record."""
    arguments = Parser(__doc__, "data", "output").parse_args()
    rows = []
    for name, settings in list(CHANGES.items())[: sized(None, 2)]:
        tasks = [Task("low", language, arguments.data, arguments.output / name) for language in LANGUAGES]
        for task in tasks:
            train(task, 1, settings)
        rows.append({"settings": settings, **scored(tasks)})
        print(name, f"WER {rows[-1]['wer']:.1f}, SER {rows[-1]['ser']:.1f}", flush=True)
    write_result("characters/ablation", machine=machine(), languages=LANGUAGES, rows=rows)


def scored(tasks: list[Task]) -> dict[str, Any]:
    """The error rates of the development sets together, and what the trainings took."""
    found, references = [], []
    for task in tasks:
        pairs = list(read_table(task.table("dev")))
        translations = Translator([load_system(task.folder)]).translate([word for word, _ in pairs])
        found += [symbols(one.text) for one in translations]
        references += [symbols(phones) for _, phones in pairs]
    records = [read_json(task.folder / "training.json") for task in tasks]
    rates = asdict(error_rates(found, references))
    del rates["confusions"]
    return {
        **rates,
        "dev_nll": sum(record["dev_nll"] for record in records) / len(records),
        "updates": records[0]["updates"],
        "minutes": round(60 * sum(record["hours"] for record in records), 2),
    }


def symbols(text: str) -> list[str]:
    """What stands between spaces, whatever the units of the model are."""
    return unicodedata.normalize("NFC", text).split()
