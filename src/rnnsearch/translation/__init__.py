"""Translations of new sentences, and scores and alignments of given ones."""

from __future__ import annotations

import os

from rnnsearch.devices import default_device
from rnnsearch.model_catalog import default_model, model_folder
from rnnsearch.model_folder import load_systems
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.formats import FORMATS
from rnnsearch.translation.pair_files import score_files
from rnnsearch.translation.scoring import ScoredPair, score_pairs
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import NextWord, Translator

__all__ = ["FORMATS", "NextWord", "ScoredPair", "Translation", "Translator", "load", "score_files", "score_pairs"]


def load(*models: str | os.PathLike[str]) -> Translator:
    """Load a trained model, on a GPU where there is one; or several with the same vocabularies, as an ensemble.

    A model is a folder, or the name of one that is installed (`rnnsearch models`), or a name on the Hugging Face Hub, such
    as `user/name`. Without an argument it is the installed one, which translates English into French.

    Where left-to-right and right-to-left models are among them, see `BidirectionalTranslator`.
    """
    folders = [model_folder(model) for model in models] or [default_model()]
    systems = load_systems(folders, default_device())
    directions: dict[bool, list[int]] = {}
    for place, system in enumerate(systems):
        directions.setdefault(system.config.data.right_to_left, []).append(place)
    sides = [
        Translator(systems[places[0]], folders[places[0]], [systems[place] for place in places[1:]])
        for _, places in sorted(directions.items())
    ]
    return BidirectionalTranslator(sides) if len(sides) > 1 else sides[0]
