"""Translations of new sentences, and scores and alignments of given ones."""

from __future__ import annotations

import os
from pathlib import Path

from rnnsearch.data.inputs import check_readable
from rnnsearch.data.lines import read_lines
from rnnsearch.jobs import cut, job
from rnnsearch.model_catalog import default_model, model_folder
from rnnsearch.translation.formats import FORMATS, Format
from rnnsearch.translation.glossary import TermsLike
from rnnsearch.translation.loading import load
from rnnsearch.translation.pronunciation import Pronouncer
from rnnsearch.translation.scoring import ScoredPair, score_pairs
from rnnsearch.translation.stages import Translate, with_prefixes
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import NextWord, Translator

__all__ = [
    "FORMATS",
    "NextWord",
    "Pronouncer",
    "ScoredPair",
    "Translation",
    "Translator",
    "load",
    "score_pairs",
    "translate_file",
]


def translate_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *models: str | os.PathLike[str],
    jobs: int = 1,
    n: int = 1,
    format: Format = "text",
    terms: TermsLike = None,
    **settings: object,
) -> None:
    """Translate a file of any size, line by line, into another file, in `jobs` processes, as `rnnsearch translate` does.

    `models` are those of `load`, `format` is that of the command, and `n`, `terms` and `settings` are those of
    `Translator.n_best`. The output does not depend on `jobs`; it is written whole or not at all. Until then, finished
    translations are kept in the folder `OUTPUT.parts`; if this process is killed, the same call continues from them. On
    systems other than Linux, call this below `if __name__ == "__main__":`.
    """
    folders = [model_folder(model) for model in models] or [default_model()]
    check_readable(Path(source))
    translator = load(*folders)
    stage = Translate(translator, folders, n, format, translator.glossary(terms), settings)
    with job(stage, Path(output), jobs) as translating:
        for _ in translating.rows(cut(with_prefixes(read_lines(Path(source)), None))):
            pass
