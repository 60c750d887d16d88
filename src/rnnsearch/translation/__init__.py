"""Translations of new sentences, and scores and alignments of given ones."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.folder import load_system
from rnnsearch.translation.formats import FORMATS
from rnnsearch.translation.scoring import ScoredPair, score_files, score_pairs
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator

__all__ = ["FORMATS", "ScoredPair", "Translation", "Translator", "load", "score_files", "score_pairs"]


def load(folder: str | os.PathLike[str], *others: str | os.PathLike[str]) -> Translator:
    """Load a trained model, on a GPU where there is one; or several with the same vocabularies, as an ensemble."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    systems = [load_system(place, device) for place in (folder, *others)]
    for place, system in zip(others, systems[1:], strict=True):
        for side in ("source", "target"):
            if getattr(system, f"{side}_vocabulary").words != getattr(systems[0], f"{side}_vocabulary").words:
                raise RnnsearchError(
                    f"{os.fspath(place)}: its {side} vocabulary is not that of {os.fspath(folder)}; the models of an "
                    "ensemble are trained on the same prepared data (`rnnsearch prepare`, then `train --data`)"
                )
    return Translator(systems[0], Path(folder), systems[1:])
