"""What the benchmarks of models of letters share: training by the preset `characters`, and error rates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.lib.command import each, run
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import read_json
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import error_rates
from rnnsearch.translation import Translation, Translator


def train(
    folder: Path, tables: Sequence[Path], development: Path, settings: Sequence[str] = (), *further: object, models: int = 1
) -> None:
    """Train so many models on one thread, unless it is done; `settings` are `section.key=value`, `further` other options."""
    if models == 1 and (folder / "training.json").exists():
        return
    options = [*each("--tsv", tables), "--valid-tsv", development, "--output", folder, "--models", models, *further]
    command = ("train", "--preset", "characters", "--resume", *options, *settings_of([*settings]))
    run(*command, threads=1, log=folder.with_name(f"{folder.name}.log"))


def training_of(folder: Path) -> dict[str, Any]:
    """What a training took."""
    record = read_json(folder / "training.json")
    kept = {key: record[key] for key in ("updates", "best_update", "parameters")}
    return {**kept, "minutes": round(60 * record["hours"], 2)}


def scored(translator: Translator, table: Path) -> tuple[dict[str, Any], list[Translation]]:
    """The error rates on a table and the words a second of processor time, and what was written."""
    pairs = list(read_table(table))
    words = [word for word, _ in pairs]
    translator.translate(words[:100])  # the first time, the weights are packed, and the loops compiled
    began = time.process_time()
    written = translator.translate(words)
    seconds = time.process_time() - began
    rates = error_rates([one.tokens for one in written], [translator.target_words(phones) for _, phones in pairs])
    return {"words_per_second": round(len(words) / seconds), **asdict(rates)}, written
