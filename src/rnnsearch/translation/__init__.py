"""Translations of new sentences, and scores and alignments of given ones."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.folder import load_systems
from rnnsearch.translation.formats import FORMATS
from rnnsearch.translation.scoring import ScoredPair, score_files, score_pairs
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator

__all__ = ["FORMATS", "ScoredPair", "Translation", "Translator", "load", "score_files", "score_pairs"]


def load(folder: str | os.PathLike[str], *others: str | os.PathLike[str]) -> Translator:
    """Load a trained model, on a GPU where there is one; or several with the same vocabularies, as an ensemble."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    systems = load_systems((folder, *others), device)
    return Translator(systems[0], Path(folder), systems[1:])
