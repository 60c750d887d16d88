"""A toy language that is spelt in letters and pronounced in phones, and a tiny model that has learned to pronounce it."""

from __future__ import annotations

from pathlib import Path
from random import Random

from rnnsearch.cli.options import settings
from rnnsearch.training.session import train

PHONES = {"a": "ɑ", "é": "e", "o": "oː", "t": "t", "c": "k", "n": "n", "ch": "ʃ"}
"""Every letter has a phone, and one pair of letters."""
SETTINGS = {
    "data.source_units": "characters",
    "data.target_units": "symbols",
    "data.subwords": "none",
    "model.embedding_size": 24,
    "model.hidden_size": 32,
    "model.alignment_size": 24,
    "model.maxout_size": 24,
    "training.learning_rate": 0.02,
    "training.warmup_updates": 20,
    "training.dropout": 0,
    "training.weight_average": 0.9,
    "training.batch_size": 32,
    "training.max_updates": 120,
    "training.max_epochs": 0,
    "training.validate_every": 60,
    "training.validate_on": "wer",
    "search.beam": 2,
}


def spelt_words(count: int, seed: int) -> list[tuple[str, str]]:
    """Words and their pronunciations."""
    random = Random(seed)
    words = [[random.choice(list(PHONES)) for _ in range(random.randint(2, 5))] for _ in range(count)]
    return [("".join(word), " ".join(PHONES[letter] for letter in word)) for word in words]


def write_table(path: Path, pairs: list[tuple[str, str]]) -> Path:
    """A table with a pair on each line."""
    path.write_text("".join(f"{word}\t{phones}\n" for word, phones in pairs))
    return path


def assignments(**others: object) -> list[str]:
    """The settings, as `--set` has them; `others` with `__` for the point."""
    changed = SETTINGS | {key.replace("__", "."): value for key, value in others.items()}
    return [f"{key}={value}" for key, value in changed.items()]


def make_speller(folder: Path) -> None:
    """Train the model in `folder`."""
    text, valid = (folder / name for name in ("train.tsv", "valid.tsv"))
    write_table(text, spelt_words(400, 1))
    write_table(valid, spelt_words(60, 2))
    train(
        folder / "model",
        settings("best", None, assignments()),
        sources=text,
        targets=text,
        valid_source=valid,
        valid_target=valid,
    )
