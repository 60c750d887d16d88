"""How far the settings of a training are those of the paper: the label of a row in a table of scores."""

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
"""The settings that make a recipe; length limits, times and seeds are not among them."""

Settings = Mapping[str, Mapping[str, Any]]


def recipe(settings: Settings) -> str:
    """A sentence: whether these settings (section → key → value) are the preset `paper`, and where they differ from it."""
    sizes = _differences(settings, _SIZES)
    others = _differences(settings, _RECIPE)
    if not others:
        return "Recipe: the paper’s (preset paper)" + (f", with other sizes: {', '.join(sizes)}." if sizes else ".")
    differences = ", ".join([*others, *sizes])
    return f"Recipe: ours, not the paper’s. It differs from the preset paper (values in brackets) in {differences}."


def _differences(settings: Settings, keys: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The settings among `keys` that are there and differ from the preset `paper`."""
    of_paper = to_dict(from_preset("paper"))
    return [
        f"{section}.{key} = {_plain(settings[section][key])} ({_plain(of_paper[section][key])})"
        for section, names in keys.items()
        for key in names
        if key in settings.get(section, {}) and settings[section][key] != of_paper[section][key]
    ]


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
