"""A Transformer of JoeyNMT for small texts in subwords: its settings, and how it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lib.texts import write_lines
from benchmarks.peers.joeynmt.toolkit import JOEYNMT, settings, words_of
from rnnsearch.atomic import write_json

WIDTH = 128


def commands(
    folder: Path, pieces: Sequence[str], recipe: Mapping[str, Any], tested: Mapping[str, Path], peers: Path
) -> tuple[list[str], list[str]]:
    """Write files of settings and a vocabulary; the commands that train, and that write `translated.NAME` by each test set.

    The names of the test sets are those of its settings, `dev` and `test`.
    """
    write_lines(folder / "pieces.vocab", ("<unk>", "<pad>", "<s>", "</s>", *pieces))
    write_json(folder / "training.yaml", recipe)  # JSON is YAML
    sets = {name: str(file) for name, file in tested.items()}
    write_json(folder / "test.yaml", {**recipe, "data": {**recipe["data"], **sets}})
    joeynmt = [str(JOEYNMT.python(peers)), "-m", "joeynmt"]
    # Its command `translate` breaks off where it should write what it has translated; `test` writes.
    test = [*joeynmt, "test", str(folder / "test.yaml"), "--output-path", str(folder / "translated")]
    return [*joeynmt, "train", str(folder / "training.yaml"), "--skip-test"], test


def transformer_settings(folder: Path, language: str, source_language: str = "en") -> dict[str, Any]:
    """JoeyNMT's settings, for a model from `source_language` into `language`."""
    layers = {
        "type": "transformer",
        "num_layers": 4,
        "num_heads": 4,
        "embeddings": {"embedding_dim": WIDTH, "scale": True, "dropout": 0.0},
        "hidden_size": WIDTH,
        "ff_size": 2 * WIDTH,
        "dropout": 0.3,
        "layer_norm": "pre",
    }
    source, target = (words_of(side, str(folder / "pieces.vocab"), 200) for side in (source_language, language))
    shared = settings(folder, str(folder / "train"), str(folder / "validated"), (source, target))
    testing = {
        "batch_size": 4096,
        "batch_type": "token",
        "eval_metrics": ["bleu"],
        "sacrebleu_cfg": {"tokenize": "none"},
    }
    training = {
        "optimizer": "adamw",
        "adam_betas": [0.9, 0.98],
        "learning_rate": 0.0025,
        "learning_rate_min": 0.0,
        "learning_rate_warmup": 1000,
        "scheduling": "warmupinversesquareroot",
        "label_smoothing": 0.1,
        "loss": "crossentropy",
        "normalization": "tokens",
        "batch_size": 1024,
        "batch_type": "token",
        "early_stopping_metric": "bleu",
        "validation_freq": 500,
        "logging_freq": 100,
        "shuffle": True,
    }
    model = {
        "initializer": "xavier_uniform",
        "embed_initializer": "xavier_uniform",
        "bias_initializer": "zeros",
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": layers,
        "decoder": layers,
    }
    return {
        **shared,
        "testing": {**shared["testing"], **testing},
        "training": {**shared["training"], **training},
        "model": model,
    }
