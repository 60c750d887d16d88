"""The built-in corpus, and trainings on it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lib.record import sized
from rnnsearch.datasets.builtin import write_corpus


def corpus(folder: Path, pairs: int = sized(60_000, 400), tested: int = sized(500, 20)) -> Path:
    """The folder of the corpus, written unless it has been."""
    if not (folder / "test.gold").exists():
        write_corpus(folder, train=pairs, valid=tested, test=tested)
    return folder


def train_command(corpus: Path, model: Path, *options: object, source: str = "en", target: str = "fr") -> list[object]:
    """The command that trains a model of the preset `demo` on it."""
    return [
        *("train", "--source", corpus / f"train.{source}", "--target", corpus / f"train.{target}"),
        *("--valid-source", corpus / f"valid.{source}", "--valid-target", corpus / f"valid.{target}"),
        *("--output", model, "--preset", "demo", *options),
    ]
