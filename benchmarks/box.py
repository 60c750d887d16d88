"""Measures the translators that are installed with the package, beside the float32 models that they are copies of.

    python benchmarks/box.py --data DATA --trained RUNS/box-again --after RUNS/best RUNS/box/model RUNS/longer
    python benchmarks/box.py --data DATA --trained RUNS/box                      # the installed copy alone
    python benchmarks/box.py --data DATA --trained RUNS/box-fr-en --pair fr-en --after RUNS/box-fr-en/first
    python benchmarks/box.py                                                     # renders the page and the cards again

`tools/train_box.py` says how the models are trained; the models that one went on from are named so that their hours count.
Without them, the folder `--trained` may have the text alone, which that program writes first. Then what is installed is
measured on one more processor.

The installed folder stores int8 weights. It is searched with float32 products, which every processor has, and with int8
products, which some have. BLEU is sacreBLEU's, cased. The figures of each kind of processor are kept in
`results/box/PAIR.json`; from them come the page `docs/reference/installed-translator.md` and the card in the folder of each
model.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from record import RESULTS, machine, write_result

from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_lines
from rnnsearch.model_catalog import DEFAULT, default_model, summarize
from rnnsearch.model_files import WEIGHTS

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


@dataclass(frozen=True)
class Pair:
    """What is told of a pair of languages."""

    source: str
    target: str
    trained_by: str
    validated: str
    """What is to be said of the texts that chose it."""
    examples: tuple[str, ...]


PAIRS = {
    "en-fr": Pair(
        "English",
        "French",
        "[`newstest.py`](../../benchmarks/newstest.py) and [`train_box.py`](../../tools/train_box.py)",
        "Sentences of newstest2012 and newstest2013 validated models that it went on from.",
        (
            "I would like a cup of tea, please.",
            "Why didn't you tell me that you were leaving?",
            "She has never been to Paris, but her brother lives there.",
            "The European Parliament adopted the proposal by a large majority.",
        ),
    ),
    "fr-en": Pair(
        "French",
        "English",
        "[`train_box.py`](../../tools/train_box.py)",
        "Sentences of Tatoeba alone validated it.",
        (
            "Je voudrais une tasse de thé, s'il vous plaît.",
            "Pourquoi ne m'as-tu pas dit que tu partais ?",
            "Elle n'est jamais allée à Paris, mais son frère y habite.",
            "Le Parlement européen a adopté la proposition à une large majorité.",
        ),
    ),
}


def main() -> None:
    """Measure on this machine if the trained model is given, then write the page and the cards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with wmt/ in it")
    parser.add_argument("--trained", type=Path, help="the folder of train_box.py: text/, and maybe model/")
    parser.add_argument("--after", type=Path, nargs="+", default=[], metavar="MODEL", help="all models that it went on from")
    parser.add_argument("--pair", choices=PAIRS, default=DEFAULT, help="the languages, source and target")
    arguments = parser.parse_args()
    if arguments.data and arguments.trained:
        record_rows(arguments.pair, arguments.data, arguments.trained, arguments.after)
    write_text(PAGE, page())
    for pair in records():
        write_text(default_model(pair) / "README.md", card(pair))


def record_rows(pair: str, data: Path, trained: Path, after: list[Path]) -> None:
    """Measure a translator on this machine, and write that to its record."""
    on, before = machine(), records().get(pair, {"trainings": [], "rows": {}})
    folders = [*after, trained / "model"] if after else []
    trainings = [json.loads((folder / "training.json").read_text()) for folder in folders] or before["trainings"]
    rows = {name: row for name, row in before["rows"].items() if row["weights"] == installed_weights(pair)}
    if not rows and not (trained / "model").exists():
        raise SystemExit(f"{trained}/model: no such model; new weights are measured beside their float32 model first")
    measured = {"machine": on, "weights": installed_weights(pair), **measure(pair, data, trained)}
    rows[f"{on['cpu']}, {on['instructions']}"] = measured
    write_result(f"box/{pair}", trainings=trainings, rows=rows)


def records() -> dict[str, Any]:
    """What was measured, by pair of languages."""
    paths = {pair: RESULTS / "box" / f"{pair}.json" for pair in PAIRS}
    return {pair: json.loads(path.read_text(encoding="utf-8")) for pair, path in paths.items() if path.exists()}


def installed_weights(pair: str) -> str:
    """The checksum of the weights that are installed: figures of other weights are not kept."""
    return f"{crc32((default_model(pair) / WEIGHTS).read_bytes()):08x}"


def pair_of(model: Path) -> str:
    """The languages of a model, source and target."""
    summary = summarize(model)
    return f"{summary.source_language}-{summary.target_language}"


def words_alone(line: str) -> str:
    """The letters of a line's words, without their case."""
    return "".join(re.findall(r"\w+", line.casefold()))


def held_out(pair: str, text: Path, folder: Path) -> tuple[Path, Path]:
    """The pairs of the test set of Tatoeba whose source is not in the training text, as two files.

    They are held out by their English, so from French some are left out, and from English none.
    """
    source, target = pair.split("-")
    known = set(map(words_alone, read_lines(text / f"tatoeba-train.{source}")))
    pairs = zip(read_lines(text / f"tatoeba-test.{source}"), read_lines(text / f"tatoeba-test.{target}"), strict=True)
    unknown = [both for both in pairs if words_alone(both[0]) not in known]
    files = folder / f"tatoeba.{source}", folder / f"tatoeba.{target}"
    for file, lines in zip(files, zip(*unknown, strict=True), strict=True):
        write_text(file, "".join(f"{line}\n" for line in lines))
    return files


def measure(pair: str, data: Path, trained: Path) -> dict[str, Any]:
    """Sizes, times, and BLEU of each way to store and search."""
    floats, installed = trained / "model", default_model(pair)
    if floats.exists() and (floats_pair := pair_of(floats)) != pair:
        raise SystemExit(f"{floats}: this is a model {floats_pair}, not {pair}; give --pair {floats_pair}")
    ways = {
        **({"float32": (floats, "fp32")} if floats.exists() else {}),
        "int8 weights, float32 products": (installed, "fp32"),
        "int8 weights, int8 products": (installed, "int8"),
    }
    found: dict[str, Any] = {}
    first: dict[str, list[str]] = {}
    with TemporaryDirectory() as folder:
        news = tuple(data / "wmt" / f"newstest2013.{language}.gz" for language in pair.split("-"))
        tests = {"Tatoeba": held_out(pair, trained / "text", Path(folder)), "newstest2013": news}
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
    translate = [sys.executable, "-m", "rnnsearch", "translate", "--no-split-sentences", "--model", str(installed)]
    examples = PAIRS[pair].examples
    done = subprocess.run(translate, input="\n".join(examples), capture_output=True, text=True, check=True)
    return {"ways": found, "examples": dict(zip(examples, done.stdout.splitlines(), strict=True))}


def _load(model: Path) -> tuple[float, float]:
    """Seconds to load a model in a new process, once PyTorch is imported, and to translate the first sentence."""
    done = subprocess.run([sys.executable, "-c", LOAD, str(model)], capture_output=True, text=True, check=True)
    load, translate = map(float, done.stdout.split())
    return load, translate


def page() -> str:
    """The page of the documentation."""
    found = records()
    signature = next(iter(facts(pair)["signature"] for pair in found))
    return "\n".join([PAGE_HEAD.format(signature=signature), *(section(pair) for pair in found)])


def section(pair: str) -> str:
    """What the page says of one translator."""
    told, record = PAIRS[pair], records()[pair]
    head = PAGE_SECTION.format(pair=pair, **facts(pair), trained_by=told.trained_by, validated=told.validated)
    tables = [f"### {told.source} to {told.target}: {name}\n\n{table(row['ways'])}" for name, row in record["rows"].items()]
    return "\n".join([head, *tables, f"### {told.source} to {told.target}: examples\n", EXAMPLES + examples(pair)])


def card(pair: str) -> str:
    """The card in the model's folder."""
    source, target = pair.split("-")
    return CARD.format(pair=pair, source=source, target=target, **facts(pair)) + EXAMPLES + examples(pair)


def facts(pair: str) -> dict[str, str]:
    """What both texts say of a translator and its quality."""
    told, record = PAIRS[pair], records()[pair]
    ways = next(row["ways"] for row in record["rows"].values() if "float32" in row["ways"])
    stored = ways["int8 weights, float32 products"]
    return {
        "from_language": told.source,
        "to_language": told.target,
        "floats": f"{ways['float32']['megabytes']:.0f} MB",
        "parameters": f"{record['trainings'][-1]['parameters'] / 1e6:.1f} million parameters",
        "megabytes": f"{summarize(default_model(pair)).megabytes:.1f} MB",
        "tatoeba": f"{stored['scores']['Tatoeba']['bleu']:.1f}",
        "news": f"{stored['scores']['newstest2013']['bleu']:.1f}",
        "signature": stored["scores"]["Tatoeba"]["signature"],
        "hours": f"{sum(training['hours'] for training in record['trainings']):.1f} hours",
        "sentences": f"{stored['scores']['Tatoeba']['sentences']:,}",
    }


def table(ways: dict[str, Any]) -> str:
    """The rows of one processor."""
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


def examples(pair: str) -> str:
    """Sentences and their translations."""
    told, rows = PAIRS[pair], records()[pair]["rows"].values()
    found: dict[str, str] = next(row["examples"] for row in rows if "float32" in row["ways"])
    lines = "".join(f"| {source} | {target} |\n" for source, target in found.items())
    return f"| {told.source} | {told.target} |\n|---|---|\n{lines}"


EXAMPLES = "These are its own translations, as they are.\n\n"
PAGE_HEAD = """# The installed translators

<!-- Written by benchmarks/box.py from benchmarks/results/box. Do not edit it; run the script. -->

`rnnsearch translate` and `rnnsearch.load()` use a model from English to French where none is named. It comes with the
package, and so does one from French to English: `rnnsearch translate --model fr-en` and `rnnsearch.load("fr-en")`. Their
words are linked by [alignment layers](../how-to/align-and-score.md#teach-a-translator-to-align) that learned from a part of
their training text.

They are good for everyday sentences and for the language of parliaments. They make errors with names, numbers and rare
words, and with long sentences, and news is not what they were trained on. To translate text of one kind well, [train a model
on such text](../how-to/train-on-your-text.md); `train --from` can start from one of these.

In the tables, BLEU is sacreBLEU's, with the signature `{signature}`.
*Load* is the time from the import of PyTorch to a loaded model. The *other translations* are those that differ from the
first row of their table. Int8 products are used where the processor has them and `search.precision` asks for them;
elsewhere, float32 products stand in.
"""
PAGE_SECTION = """## {from_language} to {to_language}

`{pair}` has {parameters}, stored as int8 in {megabytes} (as float32, in {floats}). It was trained by
{trained_by} on Europarl and Tatoeba, and on
nothing else, in {hours} of one CPU core. It has {tatoeba} BLEU on {sentences} sentences of Tatoeba that are not in its
training text, and {news} on newstest2013. {validated}
"""
CARD = """---
library_name: rnnsearch
pipeline_tag: translation
license: other
language:
- {source}
- {target}
---

# {from_language} → {to_language}

A translator that is installed with `rnnsearch`: a recurrent network with attention (Bahdanau, Cho & Bengio, *Neural
Machine Translation by Jointly Learning to Align and Translate*, ICLR 2015). It has {parameters}, stored as int8 in
{megabytes}.

    rnnsearch translate --model {pair}

## Training text

- Europarl v7, French–English: Philipp Koehn, *Europarl: A Parallel Corpus for Statistical Machine Translation*, MT Summit
  2005. The proceedings of the European Parliament may be reused with attribution.
- Tatoeba, English–French pairs: tatoeba.org, by way of manythings.org/anki, licence CC-BY 2.0 FR. The attribution of each
  sentence is found there.

No other text was used.

## What it is good for

Everyday sentences and the language of parliaments. It has {tatoeba} BLEU on {sentences} sentences of Tatoeba that are not
in its training text, and {news} on newstest2013, which is news (sacreBLEU,
`{signature}`).
It makes errors with names, numbers and rare words, and with long sentences, and it repeats the habits of its texts. Do not
use it where an error does harm.

## Examples

"""


if __name__ == "__main__":
    main()
