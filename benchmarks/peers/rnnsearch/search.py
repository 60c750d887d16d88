"""Ours in `translation_speed.py` and `ctranslate2_serving.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rnnsearch


def load(model: str, *settings: str) -> Callable[[list[str], int, int], int]:
    """Load a model folder, for these settings of search, as KEY=VALUE."""
    translator = rnnsearch.load(model)
    mode = dict(setting.split("=", 1) for setting in settings)

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        # The source's length, the end symbol counted, is the number of steps: not before it, and not after.
        exactly: dict[str, Any] = {"minimum_length_ratio": 1.0, "maximum_length_ratio": 1.0, "split_sentences": False}
        together = {"beam": beam, "batch_sentences": len(sentences)}
        translations = translator.translate(sentences, **{**exactly, **together, **mode})
        return sum(len(translation.tokens) for translation in translations)

    return translate
