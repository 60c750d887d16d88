"""What the benchmarks of models of letters share: training by the preset `characters`, and error rates."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.lib.command import run
from benchmarks.lib.command import settings as settings_of
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import error_rates
from rnnsearch.translation import Translation, Translator


def train(
    folder: Path, tables: Sequence[Path], development: Path, settings: Sequence[str] = (), further: Sequence[object] = ()
) -> None:
    """Train with one thread, or go on with it; `settings` are `section.key=value`, and `further` are other options."""
    texts = [part for table in tables for part in ("--tsv", table)]
    options = [*texts, "--valid-tsv", development, "--output", folder, *further, *settings_of([*settings])]
    run("train", "--preset", "characters", "--resume", *options, threads=1, log=folder.with_name(f"{folder.name}.log"))


def training_of(folder: Path) -> dict[str, Any]:
    """What a training took."""
    record = json.loads((folder / "training.json").read_text())
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
