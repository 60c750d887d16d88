"""Parallel text with one sentence per line: public data sets, which are downloaded and checked, and the built-in corpus."""

from __future__ import annotations

from rnnsearch.datasets.catalog import (
    DATASETS,
    Archive,
    BuiltinText,
    Dataset,
    Dictionary,
    LinkedSentences,
    ParallelText,
    Text,
    wikipron,
)
from rnnsearch.datasets.fetch import Progress, fetch
from rnnsearch.datasets.texts import download
from rnnsearch.datasets.unpack import unpack

__all__ = [
    "DATASETS",
    "Archive",
    "BuiltinText",
    "Dataset",
    "Dictionary",
    "LinkedSentences",
    "ParallelText",
    "Progress",
    "Text",
    "download",
    "fetch",
    "unpack",
    "wikipron",
]
