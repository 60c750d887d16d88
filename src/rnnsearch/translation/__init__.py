"""Translations of new sentences, and scores and alignments of given ones."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.data.read import check_readable, read_lines
from rnnsearch.devices import default_device
from rnnsearch.jobs import cut, job
from rnnsearch.model_catalog import default_model, model_folder
from rnnsearch.model_folder import System, load_systems
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.formats import FORMATS, Format
from rnnsearch.translation.glossary import GivenTerms
from rnnsearch.translation.scoring import ScoredPair, score_pairs
from rnnsearch.translation.stages import Translate, with_prefixes
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import NextWord, Translator

__all__ = [
    "FORMATS",
    "NextWord",
    "ScoredPair",
    "Translation",
    "Translator",
    "load",
    "score_pairs",
    "translate_file",
]


def load(*models: str | os.PathLike[str]) -> Translator:
    """Load a trained model, on a GPU where there is one; or several with the same vocabularies, as an ensemble.

    A model is a folder, or the name of one that is installed (`rnnsearch models`), or a name on the Hugging Face Hub, such
    as `user/name`; the folder of `rnnsearch train --models` counts as all of its models. Without an
    argument it is the installed one, which translates English into French.

    Where left-to-right and right-to-left models are among them, see `BidirectionalTranslator`.
    """
    folders = [model_folder(model) for model in models] or [default_model()]
    directions: dict[bool, list[tuple[Path, System]]] = {}
    for folder, members in zip(folders, load_systems(folders, default_device()), strict=True):
        for system in members:
            directions.setdefault(system.config.data.right_to_left, []).append((folder, system))
    sides = [
        Translator(placed[0][1], placed[0][0], [system for _, system in placed[1:]])
        for _, placed in sorted(directions.items())
    ]
    return BidirectionalTranslator(sides) if len(sides) > 1 else sides[0]


def translate_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *models: str | os.PathLike[str],
    jobs: int = 1,
    n: int = 1,
    format: Format = "text",
    terms: GivenTerms = None,
    **settings: object,
) -> None:
    """Translate a file of any size, line by line, into another, in so many processes, as `rnnsearch translate` does.

    `models` are those of `load`, `format` is that of the command, and `n`, `terms` and `settings` are those of
    `Translator.n_best`. The output does not depend on `jobs`; it is written whole or not at all. Until then, what is
    finished is kept in the folder `OUTPUT.parts`: after this process was killed, the same call goes on from there. On
    systems other than Linux, call this below `if __name__ == "__main__":`.
    """
    folders = [model_folder(model) for model in models] or [default_model()]
    check_readable(Path(source))
    translator = load(*folders)
    stage = Translate(translator, folders, n, format, translator.glossary(terms), settings)
    with job(stage, Path(output), jobs) as translating:
        for _ in translating.rows(cut(with_prefixes(read_lines(Path(source)), None))):
            pass
