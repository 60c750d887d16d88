"""Six attentions called Bahdanau's, trained alike: BLEU, alignment error rate, and BLEU by length, with several seeds.

The variants are those of `attention_variants.py`, a plugin. All have the same settings, the same readout and the same
number of updates, and are trained on the built-in corpus and, with `--data`, on the first pairs of Multi30k English–French.
The interval of a mean over seeds is that of Student's t, 95%. A training that is finished is not repeated.
"""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import Any

from benchmarks.alignment.attention_models import Corpus, multi30k, of_built_in, trained_and_scored
from benchmarks.lib.command import Parser, side_by_side
from benchmarks.lib.record import kept, machine, read_json, sized, write_result
from rnnsearch import plugins

PLUGIN = Path(__file__).with_name("attention_variants.py")
VARIANTS: dict[str, tuple[str, ...]] = {
    "the paper": (),
    "Luong's order": ("model.cell=context-free",),
    "cuDNN's unit": ("model.cell=reset-after",),
    "d2l's decoder": ("model.cell=reset-after", "model.encoder=forward", "model.decoder_order=look-update-generate"),
    "ignores the encoder's states": ("model.alignment=positions",),
    "relu for tanh": ("model.alignment=additive-relu",),
    "no attention: RNNencdec": ("model.alignment=none",),
}
"""By name, what differs from the first; the last one is there for comparison."""
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""The 97.5% quantile of Student's t for so many values."""


def main() -> None:
    """Train what is missing, evaluate, record."""
    parser = Parser(__doc__, "output", "data?", epochs=8, pairs=sized(20_000, 200), jobs=2, only=VARIANTS)
    parser.add_argument("--seeds", type=int, default=sized(3, 1), choices=range(1, max(T_95) + 1), metavar="N")
    arguments = parser.parse_args()
    plugins.load_files([PLUGIN])
    on, folder = machine(), arguments.output / f"six-attentions-{arguments.epochs}-{arguments.pairs}"
    corpora = [of_built_in(folder / "corpus", arguments.pairs)]
    if arguments.data:
        corpora.append(multi30k(arguments.data, folder / "text", arguments.pairs))
    seeds = range(1, arguments.seeds + 1)
    tasks = [(corpus, name, seed) for corpus in corpora for seed in seeds for name in arguments.only]
    rows = side_by_side(lambda task: scores_of(folder, arguments.epochs, *task), tasks, arguments.jobs)
    found = {
        corpus.name: {name: summary([rows[corpus, name, seed] for seed in seeds]) for name in arguments.only}
        for corpus in corpora
    }
    asked = {"seeds": arguments.seeds, "epochs": arguments.epochs, "pairs": arguments.pairs}
    write_result("quality/six_attentions", machine=on, **asked, settings=VARIANTS, found=found)


def scores_of(folder: Path, epochs: int, corpus: Corpus, name: str, seed: int) -> dict[str, Any]:
    """The scores of one training, with BLEU by the length of the source."""
    model = folder / corpus.name / f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{seed}"
    settings = (*VARIANTS[name], f"training.seed={seed}")

    def scored() -> dict[str, Any]:
        scores = trained_and_scored(model, corpus, settings, epochs)
        return {**scores, "by_length": read_json(model / "evaluation.json")["by_length"]}

    scores = kept(model / "six-attentions.json", scored)
    print(f"{corpus.name:10} {name:30} seed {seed}  BLEU {scores['bleu']:5.2f}  {scores['cpu_hours']:.3f} h", flush=True)
    return scores


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of each score over the seeds, half its interval, and the scores themselves."""
    aer = [row["alignment"]["aer"] for row in rows if row["alignment"]]
    bins = zip(*(row["by_length"] for row in rows), strict=True)
    return {
        "bleu": interval([row["bleu"] for row in rows]),
        "aer": interval(aer) if aer else None,
        "by_length": [
            {"first": first["low"], "last": first["high"], "bleu": interval([row["bleu"] for row in (first, *rest)])}
            for first, *rest in bins
            if first["bleu"] is not None
        ],
        "parameters": rows[0]["parameters"],
        "cpu_hours": round(sum(row["cpu_hours"] for row in rows), 3),
    }


def interval(values: list[float]) -> dict[str, Any]:
    """The mean, and half the width of its 95% interval; None of one value."""
    half = T_95[len(values)] * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return {"mean": statistics.mean(values), "half": half, "values": values}
