"""The loss of BLEU by rounding and vocabulary selection: Multi30k `val`, trained in float32 and in bfloat16.

    python benchmarks/quality/rounding.py --data DATA --output RUNS [--resume]

Both trainings have the settings and the seed of `multi30k.py`, and the first is that script's if it has run there. The
model of the first translates exactly, with int8 weights, with vocabulary selection by its own attention, and with both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, run
from benchmarks.lib.record import machine, write_result
from benchmarks.quality.multi30k import evaluate, train, train_command

SEARCH: dict[str, tuple[str, ...]] = {
    "exact": (),
    "int8": ("search.precision=int8",),
    "vocabulary selection (1,000 words)": ("search.vocabulary_selection=1000",),
    "int8, vocabulary selection (1,000 words)": ("search.precision=int8", "search.vocabulary_selection=1000"),
    "int8, vocabulary selection (2,000 words)": ("search.precision=int8", "search.vocabulary_selection=2000"),
}


def main() -> None:
    """Train what has not been trained, translate `val` in every way, record."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    arguments = parser.parse_args()

    on, data = machine(), arguments.data
    name = "multi30k-rnnsearch-small"
    models = {"fp32": arguments.output / name, "bf16": arguments.output / f"{name}-bf16"}
    trainings: dict[str, dict[str, Any]] = {}
    for precision, model in models.items():
        settings = () if precision == "fp32" else (f"training.precision={precision}",)
        train(train_command(data, model, "small", settings), model, resume=arguments.resume and model.exists())
        trainings[precision] = json.loads((model / "training.json").read_text())
    model, text = models["fp32"], data / "multi30k"
    if not (model / "lexicon.tsv").exists():
        run("lexicon", "--model", model, "--source", text / "train.en.gz", "--target", text / "train.fr.gz")
    scores = {f"fp32, {mode}": evaluate(data, [model], "val", settings) for mode, settings in SEARCH.items()}
    scores["bf16, exact"] = evaluate(data, [models["bf16"]], "val")
    write_result("quality/rounding", machine=on, trainings=trainings, evaluation=scores)
    for mode, found in scores.items():
        print(f"{mode:30} {found['all']['bleu']:.2f}")


if __name__ == "__main__":
    main()
