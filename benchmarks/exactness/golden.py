"""Records the losses of small trainings in many settings, with which `tests/system/test_golden.py` compares.

Run it after a change that is meant to alter results.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rnnsearch
from benchmarks.lib.record import TINY
from rnnsearch.config import Config
from rnnsearch.datasets.builtin import write_corpus

GOLDEN = Path(__file__).parents[2] / "tests" / "system" / "golden_losses.json"
SMALL: dict[str, dict[str, Any]] = {
    "data": {"source_words": 300, "target_words": 300},
    "model": {"embedding_size": 20, "hidden_size": 24, "alignment_size": 12, "maxout_size": 20},
    "training": {
        "batch_size": 20, "pool_batches": 4, "max_updates": 6, "validate_every": 3, "validate_sentences": 5,
        # Six updates change a model so much that another algorithm has other losses.
        "optimizer": "adam", "learning_rate": 4e-3, "initialization": "glorot", "loss_normalization": "tokens",
    },
}  # fmt: skip
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
"""Systems that differ in one setting each."""


def config(system: str) -> Config:
    """The settings of a system."""
    values = {section: dict(settings) for section, settings in SMALL.items()}
    for key, value in SYSTEMS[system].items():
        section, _, setting = key.partition(".")
        values[section][setting] = value
    return rnnsearch.from_preset("paper", values)


def losses(system: str, folder: Path) -> dict[str, list[float]]:
    """The training losses of a system on the first pairs of the built-in corpus, and the log-probabilities of some."""
    texts, model = folder / "texts", folder / "model"
    write_corpus(texts, train=400, valid=12, test=1)
    gold = texts / "train.gold"
    gold.write_text(gold.read_text(encoding="utf-8").replace("p", "-"), encoding="utf-8")  # some are only possible
    translator = rnnsearch.train(
        model,
        config(system),
        sources=[texts / "train.en"],
        targets=[texts / "train.fr"],
        links=[gold] if system == "guided" else [],
        valid_source=texts / "valid.en",
        valid_target=texts / "valid.fr",
    )
    record = json.loads((model / "training.json").read_text(encoding="utf-8"))
    valid = ((texts / f"valid.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "fr"))
    return {
        "training": [round(row["train_nll"], 5) for row in record["validations"]],
        "scores": [round(float(pair.score), 4) for pair in translator.score(*valid)],
    }


def main() -> None:
    """Record the losses of all systems."""
    found = {}
    for name in list(SYSTEMS)[: 2 if TINY else None]:
        with TemporaryDirectory() as folder:
            found[name] = losses(name, Path(folder))
    path = Path(TINY) / GOLDEN.name if TINY else GOLDEN
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")
