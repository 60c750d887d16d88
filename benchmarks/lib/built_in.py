"""The built-in corpus, and trainings on it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lib.command import text_options
from benchmarks.lib.record import sized
from rnnsearch.datasets.builtin import write_corpus


def corpus(folder: Path, pairs: int = sized(60_000, 400), tested: int = sized(500, 20)) -> Path:
    """The folder of the corpus, written unless it has been."""
    if not (folder / "test.gold").exists():
        write_corpus(folder, train=pairs, valid=tested, test=tested)
    return folder


def part(corpus: Path, name: str, source: str = "en", target: str = "fr") -> tuple[Path, Path]:
    """The files of `train`, `valid` or `test`."""
    return corpus / f"{name}.{source}", corpus / f"{name}.{target}"


def train_command(
    corpus: Path, model: Path, *options: object, source: str = "en", target: str = "fr", preset: str = "demo"
) -> list[object]:
    """The command that trains a model on it."""
    train, valid = (part(corpus, name, source, target) for name in ("train", "valid"))
    files = (*text_options(*train), *text_options(*valid, prefix="valid-"))
    return ["train", *files, "--output", model, "--preset", preset, *options]
