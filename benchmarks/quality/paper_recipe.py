"""What makes the paper's recipe slow: preset `paper`, small, on the built-in corpus, with one thing exchanged at a time.

RNNsearch is trained for so many updates by the unchanged recipe of the paper (Adadelta, summed cost, clipping to 1, text
shuffled once, initial weights of appendix B.1), and by recipes that differ from it in one thing. Each training stops six
times, and the alignment error rate (AER) of its best weights so far is measured on test sentences whose links are known.
A stopped script goes on where it was. The record also tells how often the gradient was clipped, and its norm.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, environment, rnnsearch, run, side_by_side, text_options
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, read, read_json, sized, write_result

SIZES = (
    *("data.source_words=3000", "data.target_words=4000"),
    *("model.embedding_size=64", "model.hidden_size=128", "model.alignment_size=128", "model.maxout_size=64"),
)
RECIPES: dict[str, tuple[str, ...]] = {
    "the paper's recipe": (),
    "another seed": ("training.seed=2",),
    "Glorot's initial weights": ("training.initialization=glorot",),
    "cost divided by its words": ("training.loss_normalization=tokens",),
    "no clipping": ("training.clip_norm=0",),
    "Adadelta with ε = 1e-4": ("training.adadelta_epsilon=1e-4",),
    "Adam, learning rate 0.002": ("training.optimizer=adam", "training.learning_rate=0.002"),
    "Adam, and cost divided by its words": (
        *("training.optimizer=adam", "training.learning_rate=0.002", "training.loss_normalization=tokens"),
    ),
    "RNNencdec, the paper's recipe": ("model.alignment=none",),
}
"""By name, what differs from the paper's recipe."""
STOPS = 6


def main() -> None:
    """Train all recipes and record their curves."""
    arguments = Parser(__doc__, "output", updates=sized(3000, 6), jobs=1, only=RECIPES).parse_args()
    on, corpus = machine(), built_in.corpus(arguments.output / "built-in")
    folder = arguments.output / f"paper-recipe-{arguments.updates}"

    def row(name: str) -> dict[str, Any]:
        model = folder / re.sub(r"\W+", "-", name).strip("-")
        curve = _curve(corpus, model, RECIPES[name], arguments.updates)
        print(f"{name:40} BLEU {curve[-1]['valid_bleu']:5.1f}  AER {curve[-1]['aer']}", flush=True)
        return {"settings": RECIPES[name], "curve": curve}

    rows = side_by_side(row, arguments.only, arguments.jobs)
    record = f"quality/paper_recipe-{arguments.updates}"
    rows = read(record).get("rows", {}) | rows
    ordered = {name: rows[name] for name in RECIPES if name in rows}
    write_result(record, machine=on, updates=arguments.updates, sizes=SIZES, rows=ordered)


def _curve(corpus: Path, model: Path, settings: tuple[str, ...], updates: int) -> list[dict[str, Any]]:
    """Train up to every stop, and return the validation at each of them, with the AER of the best weights until then."""
    every = updates // STOPS
    kept = model.with_name(f"{model.name}.json")
    curve: list[dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else []
    for stop in range(every * (len(curve) + 1), updates + 1, every):
        limits = (f"training.max_updates={stop}", f"training.validate_every={every}", "training.validate_sentences=300")
        resumed = ["--resume"] if model.exists() else []
        options = [*settings_of((*SIZES, *limits, *settings)), *resumed]
        command = built_in.train_command(corpus, model, *options, preset="paper")
        run(*command, threads=1, log=kept.with_suffix(".log"))
        curve.append(read_json(model / "training.json")["validations"][-1] | {"aer": _aer(corpus, model)})
        kept.write_text(json.dumps(curve))
    return curve


def _aer(corpus: Path, model: Path) -> float | None:
    """The alignment error rate of a model on the test sentences of the built-in corpus; None for one that does not align."""
    if read_json(model / "config.json")["model"]["alignment"] == "none":
        return None
    files = [*text_options(*built_in.part(corpus, "test")), "--gold", corpus / "test.gold"]
    command = rnnsearch("align", "--model", model, *files, "--output", model.with_suffix(".links"))
    aligned = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(1))
    found = re.search(r"AER[^\d]*([\d.]+)", aligned.stdout + aligned.stderr)
    assert found, aligned.stderr
    return float(found[1])
