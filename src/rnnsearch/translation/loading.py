"""The loading of translators by the names of their models."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.devices import translation_device
from rnnsearch.model_catalog import default_model, model_folder
from rnnsearch.model_folder import load_systems
from rnnsearch.system import System
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.translator import Translator


def load(*models: str | os.PathLike[str]) -> Translator:
    """Load a trained model, on a GPU where there is one; or several with the same vocabularies, as an ensemble.

    A model is a folder, the name of an installed model (`rnnsearch models`), or a name on the Hugging Face Hub, such as
    `user/name`; the folder of `rnnsearch train --models` stands for all of its models. The default is the bundled model that
    translates English into French.

    If there are both left-to-right and right-to-left models, the result is a `BidirectionalTranslator`.
    """
    folders = [model_folder(model) for model in models] or [default_model()]
    directions: dict[bool, list[tuple[Path, System]]] = {}
    for folder, members in zip(folders, load_systems(folders, translation_device()), strict=True):
        for system in members:
            directions.setdefault(system.config.data.right_to_left, []).append((folder, system))
    sides = [Translator([system for _, system in placed], placed[0][0]) for _, placed in sorted(directions.items())]
    return BidirectionalTranslator(sides) if len(sides) > 1 else sides[0]
