"""The presets: settings by name, as plain values, so that `--help` need not import the code that validates settings."""

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

# On development sets, the second-best word has a better score than `[UNK]`.
_SEARCH_OF_SYMBOLS: dict[str, Any] = {"forbid_unk": True}

_MODERN_SEARCH: dict[str, Any] = {**_SEARCH_OF_SYMBOLS, "forbid_repetition": True, "keep_numbers": True}

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
    "memory": {
        "data": {"subwords": "bpe", "subword_pieces": 4000, "protect": True, "max_length": 100},
        "model": {"embedding_size": 256, "hidden_size": 320, "alignment_size": 256, "maxout_size": 256},
        "training": {**_MODERN_RECIPE, "max_epochs": 30},
        "search": _MODERN_SEARCH,
    },
    "base": {
        "data": {"minimum_count": 2},
        "model": {"embedding_size": 512, "hidden_size": 768, "alignment_size": 512, "maxout_size": 384},
        "training": {**_MODERN_RECIPE, "learning_rate": 1e-3},
        "search": _MODERN_SEARCH,
    },
    "characters": {
        # Decomposed code points: an accent, and each letter of a Korean or Khmer syllable, is a symbol of its own.
        "data": {
            "source_units": "codepoints",
            "target_units": "symbols",
            "normalization": "NFD",
            "learn_links": True,
            "max_length": 200,
        },
        "model": {"embedding_size": 128, "hidden_size": 192, "alignment_size": 128, "maxout_size": 128},
        "training": {
            **_MODERN_RECIPE,
            "batch_size": 128,
            "precision": "bf16",
            "guided_alignment": 1.0,
            "max_epochs": 0,
            "max_updates": 2400,
            "validate_every": 300,
            "validate_on": "wer",
            "patience": 0,
        },
        # Words are short, so many fit into a batch.
        "search": {**_SEARCH_OF_SYMBOLS, "maximum_length_ratio": 6.0, "max_segment": 500, "batch_sentences": 256},
    },
    "paper": {
        # The paper drops no pairs but those that are too long: a ratio can never exceed 50 where no side has more words.
        "data": {"remove_duplicates": False, "max_length_ratio": 50.0, "normalize_words": False},
        # As many updates as RNNsearch-50* has in Table 2; the other systems have fewer.
        "training": {"max_updates": 667_000, "patience": 0},
        "search": {
            "beam": 12,
            "length_normalization": 0.0,
            "minimum_length_ratio": 0.5,
            "forbid_unk": False,
            "forbid_repetition": False,
            "keep_numbers": False,
            "known_words_first": False,
            "phrases": False,
            "rare_words": False,
            "split_sentences": False,
        },
    },
}
"""The presets by name, with the settings that differ from the defaults of the dataclasses."""

BY_PAIRS: dict[str, tuple[tuple[int, dict[str, dict[str, Any]]], ...]] = {
    "memory": (
        (
            4_000,
            {
                "data": {"subword_pieces": 1000},
                "model": {"embedding_size": 192, "hidden_size": 256, "alignment_size": 192, "maxout_size": 192},
                "training": {"batch_size": 32, "dropout": 0.5, "max_epochs": 80, "validate_every": 200},
            },
        ),
        (
            12_000,
            {
                "data": {"subword_pieces": 2000},
                "training": {"batch_size": 48, "dropout": 0.4, "max_epochs": 50, "validate_every": 300},
            },
        ),
        (50_000, {}),
        (
            200_000,
            {
                "data": {"subword_pieces": 8000},
                "model": {"embedding_size": 300, "hidden_size": 512, "alignment_size": 300, "maxout_size": 300},
                "training": {"dropout": 0.2, "max_epochs": 15, "validate_every": 1000},
            },
        ),
        (
            10**12,
            {
                "data": {"subword_pieces": 8000},
                "model": {"embedding_size": 300, "hidden_size": 512, "alignment_size": 300, "maxout_size": 300},
                "training": {"dropout": 0.1, "max_epochs": 6, "validate_every": 2000},
            },
        ),
    ),
    "characters": (
        (3_000, {"training": {"batch_size": 32, "max_updates": 2000, "dropout": 0.5, "validate_every": 200}}),
        (20_000, {}),
        (
            10**12,
            {
                "model": {"hidden_size": 320},
                "training": {"max_updates": 10_000, "validate_every": 1000},
            },
        ),
    ),
}
"""Presets whose sizes depend on the amount of text: the settings that differ if there are fewer training pairs than this."""


_FURTHER = {"learning_rate": 1e-3, "dropout": 0.3, "weight_average": 0.99}
FURTHER: dict[str, tuple[tuple[int, dict[str, dict[str, Any]]], ...]] = {
    "memory": tuple(
        (limit, {"training": {**_FURTHER, "max_epochs": epochs}})
        for limit, epochs in ((4_000, 15), (12_000, 10), (50_000, 8), (200_000, 4), (10**12, 2))
    )
}
"""As `BY_PAIRS`, the settings that differ if a trained model is trained further: fewer epochs, and a shorter average."""


def preset_for(name: str, pairs: int | None = None, further: bool = False) -> dict[str, dict[str, Any]]:
    """Return the settings of a preset for this number of training pairs; its usual ones if the number is None.

    `further` says that a trained model is trained further.
    """
    settings = {section: dict(keys) for section, keys in PRESETS[name].items()}
    for table in (BY_PAIRS, FURTHER) if further else (BY_PAIRS,):
        found = next((more for limit, more in table.get(name, ()) if pairs is not None and pairs < limit), {})
        for section, keys in found.items():
            settings.setdefault(section, {}).update(keys)
    return settings


PRESET_PURPOSE: dict[str, str] = {
    "demo": "the demonstration: minutes, on its generated corpus",
    "small": "the default: up to a few hundred thousand pairs, an hour on two CPU cores",
    "best": "the best translations from some tens of thousands of pairs: subwords, and too small to overfit",
    "memory": "translation memories and localisation files: subwords, placeholders and tags kept; its sizes follow the text",
    "base": "more text, more time, or a GPU",
    "characters": "spellings to pronunciations, and other short sequences of letters; its sizes follow the amount of text",
    "paper": "RNNsearch-50 by the paper's recipe: sizes, initialisation, Adadelta; the search of its authors' code",
}
"""The purpose of each preset."""
