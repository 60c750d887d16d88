"""rnnsearch as a contestant of the speed benchmarks, behind the same interface as the other toolkits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.lib.speed_text import Size, text_system
from benchmarks.peers.toolkit import Step, Task, timed
from rnnsearch.config import SearchConfig
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import save_settings, save_weights
from rnnsearch.system import System
from rnnsearch.translation.lexicon import Lexicon

REPOSITORY = Path(__file__).parents[3]


def train_ours(task: Task, mode: dict[str, str], threads: int, version: Path = REPOSITORY) -> list[Step]:
    """Train this version, or that of another checkout, and time its updates."""
    command = [
        *_program(version, "rnnsearch/training.py"),
        "--text",
        task.text,
        "--size",
        task.size_name,
        "--updates",
        task.updates,
    ]
    settings = {"batch_size": task.batch, "pool_batches": task.pairs // task.batch, **mode}
    for key, value in settings.items():
        command += ["--set", f"training.{key}={value}"]

    def words(line: str, seconds: float) -> float | None:
        return float(json.loads(line)["words"]) if line.startswith('{"update"') else None

    return timed(command, words, threads)


def search_command(model: Path, mode: dict[str, str], version: Path = REPOSITORY) -> list[object]:
    """The command that serves translations by a model, of this version or of another checkout."""
    return [*_program(version, "search_server.py"), "rnnsearch", model, *(f"{key}={value}" for key, value in mode.items())]


def _program(version: Path, script: str) -> list[object]:
    """The command line of a script of the peers in a checkout, which imports what is there."""
    return ["env", f"PYTHONPATH={version / 'src'}", sys.executable, version / "benchmarks" / "peers" / script]


def write_random_model(text: Path, size: Size, model: Path, frequent: int) -> None:
    """Write a model of random weights, and a lexicon none of whose words is among so many frequent ones."""
    if not (model / WEIGHTS).exists():
        system, _ = text_system(text, size.config({"initialization": "glorot"}))
        save_settings(model, system)
        save_weights(model / WEIGHTS, system)
        _lexicon(system, frequent).save(model)


def _lexicon(system: System, frequent: int) -> Lexicon:
    """For every source word as many candidates as are kept, all different and none frequent: more than a learned one has."""
    words, target = system.vocabularies.source.words[1:], system.vocabularies.target.words
    rare = target[min(frequent, len(target) // 2) :]
    candidates = SearchConfig().selection_candidates
    return Lexicon(
        {
            word: [(rare[(number * candidates + i) % len(rare)], 1 / candidates) for i in range(candidates)]
            for number, word in enumerate(words)
        }
    )
