"""Small systems that differ in one setting each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import rnnsearch
from rnnsearch.config import Config
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.translation import Translator

PAIRS, UPDATES = 400, 6

SMALL: dict[str, dict[str, Any]] = {
    "data": {"source_words": 300, "target_words": 300},
    "model": {"embedding_size": 20, "hidden_size": 24, "alignment_size": 12, "maxout_size": 20},
    "training": {"batch_size": 20, "pool_batches": 4, "max_updates": UPDATES, "validate_every": 3, "validate_sentences": 5},
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "paper": {},
    "update-first": {"model.decoder_order": "look-update-generate"},
    "encdec": {"model.alignment": "none"},
    "encdec-update-first": {"model.alignment": "none", "model.decoder_order": "look-update-generate"},
    "lstm": {"model.cell": "lstm"},
    "tanh": {"model.cell": "tanh"},
    "tanh-encdec": {"model.cell": "tanh", "model.alignment": "none"},
    "deep": {"model.encoder_layers": 2, "model.decoder_layers": 3, "model.layer_norm": True, "model.tied_embedding": True},
    "deep-lstm": {"model.cell": "lstm", "model.encoder_layers": 2, "model.decoder_layers": 2},
    "reference": {"training.engine": "reference"},
    "dropout": {
        "training.dropout": 0.3, "training.word_dropout": 0.1, "training.recurrent_dropout": 0.2,
        "training.label_smoothing": 0.1, "training.consistency": 5.0, "training.accumulate": 2,
    },
    "bf16": {"training.precision": "bf16", "training.max_updates": 2, "training.validate_every": 2},
    "adam": {
        "training.optimizer": "adam", "training.learning_rate": 4e-3, "training.initialization": "glorot",
        "training.weight_average": 0.9, "training.loss_normalization": "tokens", "training.shuffle": "epoch",
    },
    "guided": {"training.guided_alignment": 0.5},
    "subwords": {"data.subwords": "bpe", "data.subword_pieces": 200},
    "right-to-left": {"data.subwords": "unigram", "data.subword_pieces": 200, "data.right_to_left": True},
}  # fmt: skip


def write_texts(folder: Path) -> Path:
    """The first pairs of the built-in corpus, of which some links are only possible."""
    write_corpus(folder, train=PAIRS, valid=12, test=1)
    gold = folder / "train.gold"
    gold.write_text(gold.read_text(encoding="utf-8").replace("p", "-"), encoding="utf-8")
    return folder


def config(system: str, more: Mapping[str, object]) -> Config:
    """The settings of a system, and more of them."""
    values = {section: dict(settings) for section, settings in SMALL.items()}
    for key, value in {**more, **SYSTEMS[system]}.items():
        section, _, setting = key.partition(".")
        values[section][setting] = value
    return rnnsearch.from_preset("paper", values)


def trained(system: str, texts: Path, folder: Path, more: Mapping[str, object] = MappingProxyType({})) -> Translator:
    """Train a system, with more settings than its own, on the texts."""
    return rnnsearch.train(
        folder,
        config(system, more),
        sources=[texts / "train.en"],
        targets=[texts / "train.fr"],
        links=[texts / "train.gold"] if system == "guided" else [],
        valid_source=texts / "valid.en",
        valid_target=texts / "valid.fr",
    )


def development(texts: Path) -> tuple[list[str], list[str]]:
    """The sentences that are translated, and their translations."""
    source, target = ((texts / f"valid.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "fr"))
    return source, target
