"""Measures the translator that is installed with the package, beside the float32 model that it is a copy of.

    python benchmarks/box.py --data DATA --trained RUNS/box-again --after RUNS/best RUNS/box/model RUNS/longer
    python benchmarks/box.py --data DATA --trained RUNS/box                      # the installed copy alone
    python benchmarks/box.py                                                     # renders the page and the card again

`tools/train_box.py` says how the model is trained; the models that it went on from are named so that their hours count.
Without them, the folder `--trained` may have the text alone, which that program writes first. Then what is installed is
measured on one more processor.

The installed folder stores int8 weights. It is searched with float32 products, which every processor has, and with int8
products, which some have. BLEU is sacreBLEU's, cased. The figures of each kind of processor are kept in `results/box.json`;
from them come the page `docs/reference/installed-translator.md` and the card in the folder of the model.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from record import RESULTS, machine, write_result

from rnnsearch.atomic import write_text
from rnnsearch.config import WEIGHTS
from rnnsearch.data.read import read_lines
from rnnsearch.model_catalog import default_model, summarize

RECORD = RESULTS / "box.json"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "installed-translator.md"
ROUNDS = 5
LOAD = """
import sys, time
import torch
began = time.perf_counter()
import rnnsearch
model = rnnsearch.load(sys.argv[1])
loaded = time.perf_counter()
model.translate("I would like a cup of tea.")
print(loaded - began, time.perf_counter() - loaded)
"""
EXAMPLES = [
    "I would like a cup of tea, please.",
    "Why didn't you tell me that you were leaving?",
    "She has never been to Paris, but her brother lives there.",
    "The European Parliament adopted the proposal by a large majority.",
]


def main() -> None:
    """Measure on this machine if the trained model is given, then write the page and the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with wmt/ in it")
    parser.add_argument("--trained", type=Path, help="the folder of train_box.py: text/, and maybe model/")
    parser.add_argument("--after", type=Path, nargs="+", default=[], metavar="MODEL", help="all models that it went on from")
    arguments = parser.parse_args()
    if arguments.data and arguments.trained:
        on, before = machine(), recorded()
        folders = [*arguments.after, arguments.trained / "model"] if arguments.after else []
        trainings = [json.loads((folder / "training.json").read_text()) for folder in folders] or before["trainings"]
        rows = {name: row for name, row in before["rows"].items() if row["weights"] == installed_weights()}
        measured = {"machine": on, "weights": installed_weights(), **measure(arguments.data, arguments.trained)}
        rows[f"{on['cpu']}, {on['instructions']}"] = measured
        write_result("box", trainings=trainings, rows=rows)
    write_text(PAGE, page())
    write_text(default_model() / "README.md", card())


def recorded() -> dict[str, Any]:
    """What was measured."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def installed_weights() -> str:
    """The checksum of the weights that are installed: figures of other weights are not kept."""
    return f"{crc32((default_model() / WEIGHTS).read_bytes()):08x}"


def measure(data: Path, trained: Path) -> dict[str, Any]:
    """Sizes, times, and BLEU of each way to store and search."""
    floats, installed = trained / "model", default_model()
    ways = {
        **({"float32": (floats, "fp32")} if floats.exists() else {}),
        "int8 weights, float32 products": (installed, "fp32"),
        "int8 weights, int8 products": (installed, "int8"),
    }
    tests = {"Tatoeba": [trained / "text" / f"tatoeba-test.{language}" for language in ("en", "fr")]}
    tests["newstest2013"] = [data / "wmt" / f"newstest2013.{language}.gz" for language in ("en", "fr")]
    found: dict[str, Any] = {}
    first: dict[str, list[str]] = {}
    with TemporaryDirectory() as folder:
        for way, (model, precision) in ways.items():
            scores = {}
            for test, (source, reference) in tests.items():
                lines, written = Path(folder) / "translations", Path(folder) / "scores.json"
                run = ["evaluate", "--model", model, "--source", source, "--reference", reference, "--json", written]
                run += ["--jobs", os.cpu_count(), "--output", lines, "--set", f"search.precision={precision}"]
                subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, run)], check=True, stdout=subprocess.DEVNULL)
                result, translations = json.loads(written.read_text()), list(read_lines(lines))
                exact = first.setdefault(test, translations)
                different = sum(ours != theirs for ours, theirs in zip(translations, exact, strict=True))
                scores[test] = {
                    "bleu": result["all"]["bleu"],
                    "signature": result["all"]["bleu_signature"],
                    "sentences": len(translations),
                    "different": different,
                    "sentences_per_second": round(len(translations) / result["seconds"], 1),
                }
                print(f"{way}, {test}: {scores[test]}", flush=True)
            summary, times = summarize(model), [_load(model) for _ in range(1 + ROUNDS)][1:]
            found[way] = {
                "megabytes": summary.megabytes,
                "load_seconds": round(statistics.median(load for load, _ in times), 3),
                "first_translation_seconds": round(statistics.median(first for _, first in times), 3),
                "scores": scores,
            }
    translate = [sys.executable, "-m", "rnnsearch", "translate"]
    done = subprocess.run(translate, input="\n".join(EXAMPLES), capture_output=True, text=True, check=True)
    return {"ways": found, "examples": dict(zip(EXAMPLES, done.stdout.splitlines(), strict=True))}


def _load(model: Path) -> tuple[float, float]:
    """Seconds to load a model in a new process, once PyTorch is imported, and to translate the first sentence."""
    done = subprocess.run([sys.executable, "-c", LOAD, str(model)], capture_output=True, text=True, check=True)
    load, translate = map(float, done.stdout.split())
    return load, translate


def page() -> str:
    """The page of the documentation."""
    record = recorded()
    tables = [f"## {processor}\n\n" + _table(row["ways"]) for processor, row in record["rows"].items()]
    return "\n".join([PAGE_HEAD.format(**_facts(record)), *tables, _examples(record)])


def card() -> str:
    """The card in the model's folder."""
    record = recorded()
    return CARD.format(**_facts(record)) + "\n" + _examples(record)


def _measured(record: dict[str, Any]) -> dict[str, Any]:
    """The figures of a processor on which the float32 model was measured too."""
    found: dict[str, Any] = next(row for row in record["rows"].values() if "float32" in row["ways"])
    return found


def _facts(record: dict[str, Any]) -> dict[str, str]:
    """What both texts say of the model and its quality."""
    ways = _measured(record)["ways"]
    stored = ways["int8 weights, float32 products"]
    return {
        "floats": f"{ways['float32']['megabytes']:.0f} MB",
        "parameters": f"{record['trainings'][-1]['parameters'] / 1e6:.1f} million parameters",
        "megabytes": f"{summarize(default_model()).megabytes:.1f} MB",
        "tatoeba": f"{stored['scores']['Tatoeba']['bleu']:.1f}",
        "news": f"{stored['scores']['newstest2013']['bleu']:.1f}",
        "signature": stored["scores"]["Tatoeba"]["signature"],
        "hours": f"{sum(training['hours'] for training in record['trainings']):.1f} hours",
        "sentences": f"{stored['scores']['Tatoeba']['sentences']:,}",
    }


def _table(ways: dict[str, Any]) -> str:
    tests = list(next(iter(ways.values()))["scores"])
    bleu = [f"BLEU {test}" for test in tests]
    heads = ["", "load", "first translation", *bleu, "other translations", "sentences/s"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for way, found in ways.items():
        scores = found["scores"].values()
        cells = [
            way,
            f"{found['load_seconds']:.2f} s",
            f"{found['first_translation_seconds']:.2f} s",
            *(f"{score['bleu']:.2f}" for score in scores),
            f"{sum(score['different'] for score in scores):,} of {sum(score['sentences'] for score in scores):,}",
            ", ".join(f"{score['sentences_per_second']:.0f}" for score in scores),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _examples(record: dict[str, Any]) -> str:
    examples = _measured(record)["examples"]
    rows = "\n".join(f"| {english} | {french} |" for english, french in examples.items())
    return f"## Examples\n\nThese are its own translations, as they are.\n\n| English | French |\n|---|---|\n{rows}\n"


PAGE_HEAD = """# The installed translator

<!-- Written by benchmarks/box.py from benchmarks/results/box.json. Do not edit it; run the script. -->

`rnnsearch translate` and `rnnsearch.load()` use a model from English to French where none is named. It comes with the
package: {parameters}, stored as int8 in {megabytes} (as float32, in {floats}). It was trained by
[`newstest.py`](../../benchmarks/newstest.py) and [`train_box.py`](../../tools/train_box.py) on Europarl and Tatoeba, and on
nothing else, in {hours} of one CPU core. Its words are linked by an [alignment
layer](../how-to/align-and-score.md#teach-a-translator-to-align) that learned from a part of the same text.

It is good for everyday sentences and for the language of parliaments; it has {tatoeba} BLEU on {sentences} sentences of
Tatoeba whose English is not in its training text, and {news} on newstest2013. News is not what it was trained on; sentences
of newstest2012 and newstest2013 validated models that it went on from. It makes errors with names, numbers and rare words,
and with long sentences. To translate text of one kind well, [train a model on such
text](../how-to/train-on-your-text.md); `train --from` can start from this one.

BLEU is sacreBLEU's, with the signature `{signature}`. *Load* is the time
from the import of PyTorch to a loaded model. The *other translations* are those that differ from the first row of their
table. Int8 products are used where the processor has them and `search.precision` asks for them; elsewhere, float32 products
stand in.
"""
CARD = """---
library_name: rnnsearch
pipeline_tag: translation
license: other
language:
- en
- fr
---

# English → French

The translator that is installed with `rnnsearch`: a recurrent network with attention (Bahdanau, Cho & Bengio, *Neural
Machine Translation by Jointly Learning to Align and Translate*, ICLR 2015). It has {parameters}, stored as int8 in
{megabytes}.

## Training text

- Europarl v7, French–English: Philipp Koehn, *Europarl: A Parallel Corpus for Statistical Machine Translation*, MT Summit
  2005. The proceedings of the European Parliament may be reused with attribution.
- Tatoeba, English–French pairs: tatoeba.org, by way of manythings.org/anki, licence CC-BY 2.0 FR. The attribution of each
  sentence is found there.

No other text was used.

## What it is good for

Everyday sentences and the language of parliaments. It has {tatoeba} BLEU on {sentences} sentences of Tatoeba whose
English is not in its training text, and {news} on newstest2013, which is news (sacreBLEU, `{signature}`).
It makes errors with names, numbers and rare words, and with long sentences, and it repeats the habits of its texts. Do not
use it where an error does harm.

"""


if __name__ == "__main__":
    main()
