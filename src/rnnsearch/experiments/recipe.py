"""The comparison of a training's settings with those of the paper, for the labels in tables of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rnnsearch.config import from_preset, to_dict

_SIZES = {
    "model": ("embedding_size", "hidden_size", "alignment_size", "maxout_size"),
    "data": ("source_words", "target_words"),
}
_RECIPE = {
    "training": (
        *("optimizer", "learning_rate", "warmup_updates", "decay", "initialization", "loss_normalization", "clip_norm"),
        *("batch_size", "accumulate", "pool_batches", "shuffle", "dropout", "word_dropout", "recurrent_dropout"),
        *("label_smoothing", "consistency", "weight_average", "precision", "subword_sampling"),
    ),
    "model": ("encoder", "cell", "encoder_layers", "decoder_layers", "layer_norm", "tied_embedding", "decoder_order"),
    "data": ("subwords", "minimum_count", "remove_duplicates", "max_length_ratio", "right_to_left"),
    "search": ("beam", "length_normalization", "minimum_length_ratio"),
}
"""The settings that belong to a recipe; length limits, times and seeds do not."""

Settings = Mapping[str, Mapping[str, Any]]


def recipe(settings: Settings) -> str:
    """Return a sentence that lists the differences of these settings (section → key → value) from the preset `paper`."""
    sizes = _differences(settings, _SIZES)
    others = _differences(settings, _RECIPE)
    if not others:
        return "Recipe: the paper’s (preset paper)" + (f", with other sizes: {', '.join(sizes)}." if sizes else ".")
    differences = ", ".join([*others, *sizes])
    return f"Recipe: ours, not the paper’s. It differs from the preset paper (values in brackets) in {differences}."


def _differences(settings: Settings, keys: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return those settings among `keys` that differ from the preset `paper`, as text; absent settings are ignored."""
    of_paper = to_dict(from_preset("paper"))
    return [
        f"{section}.{key} = {_as_text(settings[section][key])} ({_as_text(of_paper[section][key])})"
        for section, names in keys.items()
        for key in names
        if key in settings.get(section, {}) and settings[section][key] != of_paper[section][key]
    ]


def _as_text(value: Any) -> str:
    """Return a setting as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
