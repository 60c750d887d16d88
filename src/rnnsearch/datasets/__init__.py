"""Public parallel text: fetched, checked, and written as plain files of one sentence a line."""

from __future__ import annotations

from rnnsearch.datasets.catalog import DATASETS, Archive, Dataset, LinkedSentences, ParallelText, Text
from rnnsearch.datasets.fetch import Progress, fetch
from rnnsearch.datasets.texts import download
from rnnsearch.datasets.unpack import unpack

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
