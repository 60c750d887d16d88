"""rnnsearch: neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio 2015).

    import rnnsearch
    model = rnnsearch.load("model")
    translation = model.translate("The man can no longer go.")
    translation.text, translation.score, translation.tokens, translation.source_tokens, translation.alignment

The names in `__all__` are the public interface; all other names may change in any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnnsearch.version import __version__ as __version__

if TYPE_CHECKING:
    from rnnsearch import nn as nn
    from rnnsearch.alignment import Aligner
    from rnnsearch.checking import check
    from rnnsearch.config import Config, from_preset
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.training.ensemble import train_ensemble
    from rnnsearch.training.session import Interrupted, train
    from rnnsearch.translation import Pronouncer, ScoredPair, Translation, Translator, load, translate_file

__all__ = [
    "Aligner",
    "Config",
    "Interrupted",
    "Pronouncer",
    "RnnsearchError",
    "ScoredPair",
    "Translation",
    "Translator",
    "check",
    "from_preset",
    "load",
    "nn",
    "train",
    "train_ensemble",
    "translate_file",
]

_HOMES = {
    "Aligner": "rnnsearch.alignment",
    "Config": "rnnsearch.config",
    "Interrupted": "rnnsearch.training.session",
    "Pronouncer": "rnnsearch.translation",
    "RnnsearchError": "rnnsearch.errors",
    "ScoredPair": "rnnsearch.translation",
    "Translation": "rnnsearch.translation",
    "Translator": "rnnsearch.translation",
    "check": "rnnsearch.checking",
    "from_preset": "rnnsearch.config",
    "load": "rnnsearch.translation",
    "train": "rnnsearch.training.session",
    "train_ensemble": "rnnsearch.training.ensemble",
    "translate_file": "rnnsearch.translation",
}


def __getattr__(name: str) -> Any:
    # Lazily, so that the command line's --help does not wait for PyTorch.
    import importlib

    from rnnsearch.extras import imports_of_extras

    with imports_of_extras():
        if name == "nn":
            return importlib.import_module("rnnsearch.nn")
        if name not in _HOMES:
            raise AttributeError(f"module 'rnnsearch' has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)
