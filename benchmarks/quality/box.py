"""Measures the translators that are installed with the package, beside the float32 models that they are copies of.

    python benchmarks quality/box --data DATA --trained RUNS/box-again --after RUNS/best RUNS/box/model RUNS/longer
    python benchmarks quality/box --data DATA --trained RUNS/spans-en-fr              # it went on from what was installed
    python benchmarks quality/box --data DATA --trained RUNS/box                      # the installed copy alone
    python benchmarks quality/box --data DATA --trained RUNS/box-fr-en --pair fr-en --after RUNS/box-fr-en/first
    python benchmarks pages/render installed-translator "card of en-fr" "card of fr-en"

`tools/train_box.py` says how the models are trained; the models that one went on from are named so that their hours count.
Without them, the folder `--trained` may have the text alone, which that program writes first. Then what is installed is
measured on one more processor.

The installed folder stores int8 weights. It is searched with float32 products and with int8 products. BLEU is sacreBLEU's,
cased. The figures of each kind of processor are kept in `results/quality/box-PAIR.json`, from which the page and the cards
in the folders of the models are rendered.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from benchmarks.lib.command import Parser, evaluated
from benchmarks.lib.record import machine, read, read_json, sized, write_result
from benchmarks.lib.texts import sides, write_lines
from rnnsearch.data.lines import read_lines
from rnnsearch.model_catalog import DEFAULT, default_model, summarize
from rnnsearch.model_files import WEIGHTS
from rnnsearch.translation import load

ROUNDS = sized(5, 1)
LOAD = """
import sys, time
began = time.perf_counter()
import rnnsearch
model = rnnsearch.load(sys.argv[1])
loaded = time.perf_counter()
model.translate("I would like a cup of tea.")
print(loaded - began, time.perf_counter() - loaded)
"""


EXAMPLES = {
    "en-fr": (
        "I would like a cup of tea, please.",
        "Why didn't you tell me that you were leaving?",
        "She has never been to Paris, but her brother lives there.",
        "The European Parliament adopted the proposal by a large majority.",
    ),
    "fr-en": (
        "Je voudrais une tasse de thé, s'il vous plaît.",
        "Pourquoi ne m'as-tu pas dit que tu partais ?",
        "Elle n'est jamais allée à Paris, mais son frère y habite.",
        "Le Parlement européen a adopté la proposition à une large majorité.",
    ),
}
"""Sentences whose translations the page shows."""


def main() -> None:
    """Measure a translator on this machine, and write that to its record."""
    parser = Parser(__doc__, "data")
    parser.add_argument("--trained", type=Path, required=True, help="the folder of train_box.py: text/, and maybe model/")
    parser.add_argument("--after", type=Path, nargs="+", default=[], metavar="MODEL", help="all models that it went on from")
    parser.add_argument("--pair", choices=EXAMPLES, default=DEFAULT, help="the languages, source and target")
    arguments = parser.parse_args()
    pair, trained, after = arguments.pair, arguments.trained, arguments.after
    on, before = machine(), read(f"quality/box-{pair}") or {"trainings": [], "rows": {}}
    folders = [*after, trained / "model"] if (trained / "model").exists() else []
    trainings = [read_json(folder / "training.json") for folder in folders]
    if not after:  # the model went on from what was installed
        trainings = [*before["trainings"], *(one for one in trainings if one not in before["trainings"])]
    rows = {name: row for name, row in before["rows"].items() if row["weights"] == installed_weights(pair)}
    if not rows and not (trained / "model").exists():
        raise SystemExit(f"{trained}/model: no such model; new weights are measured beside their float32 model first")
    measured = {"machine": on, "weights": installed_weights(pair), **measure(pair, arguments.data, trained)}
    rows[f"{on['cpu']}, {on['instructions']}"] = measured
    write_result(f"quality/box-{pair}", trainings=trainings, rows=rows)


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
    trained = [path for name in ("last", "tatoeba-train") if (path := text / f"{name}.{source}").exists()]
    known = {words_alone(line) for path in trained for line in read_lines(path)}
    pairs = zip(read_lines(text / f"tatoeba-test.{source}"), read_lines(text / f"tatoeba-test.{target}"), strict=True)
    unknown = [both for both in pairs if words_alone(both[0]) not in known]
    files = folder / f"tatoeba.{source}", folder / f"tatoeba.{target}"
    for file, lines in zip(files, zip(*unknown, strict=True), strict=True):
        write_lines(file, lines)
    return files


def tests_of(pair: str, data: Path, text: Path, folder: Path) -> dict[str, tuple[Path, Path]]:
    """The test sets of a pair."""
    return {"Tatoeba": held_out(pair, text, folder), "newstest2013": sides(data, "wmt/newstest2013", *pair.split("-"))}


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
        tests = tests_of(pair, data, trained / "text", Path(folder))
        for way, (model, precision) in ways.items():
            scores = {}
            for test, (source, reference) in tests.items():
                lines, written = Path(folder) / "translations", Path(folder) / "scores.json"
                options = ("--jobs", os.cpu_count(), "--output", lines, "--set", f"search.precision={precision}")
                result = evaluated([model], source, reference, written, *options)
                translations = list(read_lines(lines))
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
    written_as = load(installed).translate(list(EXAMPLES[pair]), split_sentences=False)
    return {"ways": found, "examples": {one: of.text for one, of in zip(EXAMPLES[pair], written_as, strict=True)}}


def _load(model: Path) -> tuple[float, float]:
    """Seconds to import the package and load a model in a new process, and seconds to translate the first sentence."""
    done = subprocess.run([sys.executable, "-c", LOAD, str(model)], capture_output=True, text=True, check=True)
    load, translate = map(float, done.stdout.split())
    return load, translate
