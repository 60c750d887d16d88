"""The presets: settings by name, as plain values, so that `--help` can name them without loading what checks them."""

from __future__ import annotations

from typing import Any

_MODERN_RECIPE: dict[str, Any] = {
    "shuffle": "epoch",
    "initialization": "glorot",
    "optimizer": "adam",
    "learning_rate": 4e-3,
    "warmup_updates": 200,
    "decay": "linear",
    "loss_normalization": "tokens",
    "dropout": 0.3,
    "label_smoothing": 0.1,
    "weight_average": 0.999,
    "max_epochs": 25,
    "validate_every": 500,
}

# The second-best word scores better, on development sets, than a symbol that stands for none.
_MODERN_SEARCH: dict[str, Any] = {"forbid_unk": True}

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "demo": {
        "data": {"source_words": 3000, "target_words": 4000, "max_length": 60},
        "model": {"embedding_size": 128, "hidden_size": 256, "alignment_size": 128, "maxout_size": 128},
        "training": {
            **_MODERN_RECIPE,
            "learning_rate": 2e-3,
            "dropout": 0.1,
            "weight_average": 0.99,
            "max_updates": 1500,
            "validate_sentences": 200,
        },
        "search": _MODERN_SEARCH,
    },
    "small": {
        "data": {"minimum_count": 2, "source_words": 10000, "target_words": 10000},
        "model": {"embedding_size": 300, "hidden_size": 512, "alignment_size": 300, "maxout_size": 300},
        "training": {**_MODERN_RECIPE, "dropout": 0.4},
        "search": _MODERN_SEARCH,
    },
    "best": {
        "data": {"subwords": "bpe"},
        "model": {"embedding_size": 256, "hidden_size": 320, "alignment_size": 256, "maxout_size": 256},
        "training": _MODERN_RECIPE,
        "search": _MODERN_SEARCH,
    },
    "base": {
        "data": {"minimum_count": 2},
        "model": {"embedding_size": 512, "hidden_size": 768, "alignment_size": 512, "maxout_size": 384},
        "training": {**_MODERN_RECIPE, "learning_rate": 1e-3},
        "search": _MODERN_SEARCH,
    },
    "paper": {
        # The paper drops no pairs but those that are too long: a ratio can never exceed 50 where no side has more words.
        "data": {"remove_duplicates": False, "max_length_ratio": 50.0},
        # As many updates as RNNsearch-50* has in Table 2; the other systems have fewer.
        "training": {"max_updates": 667_000, "patience": 0},
        "search": {"beam": 12, "length_normalization": 0.0, "minimum_length_ratio": 0.5, "forbid_unk": False},
    },
}
"""Presets by name: only what differs from the defaults of the dataclasses."""

PRESET_PURPOSE: dict[str, str] = {
    "demo": "the demonstration: minutes, on its generated corpus",
    "small": "the default: up to a few hundred thousand pairs, an hour on two CPU cores",
    "best": "the best translations from some tens of thousands of pairs: subwords, and too small to overfit",
    "base": "more text, more time, or a GPU",
    "paper": "RNNsearch-50 as published: sizes, initialisation, Adadelta, search",
}
"""The purpose of each preset."""
