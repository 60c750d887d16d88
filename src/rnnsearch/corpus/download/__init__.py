"""Public parallel text: fetched, checked, and written as plain files of one sentence a line."""

from __future__ import annotations

from rnnsearch.corpus.download.datasets import DATASETS, Archive, Dataset, LinkedSentences, ParallelText, Text
from rnnsearch.corpus.download.fetch import Progress, fetch
from rnnsearch.corpus.download.texts import download
from rnnsearch.corpus.download.unpack import unpack

__all__ = [
    "DATASETS",
    "Archive",
    "Dataset",
    "LinkedSentences",
    "ParallelText",
    "Progress",
    "Text",
    "download",
    "fetch",
    "unpack",
]
