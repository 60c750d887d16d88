"""Sentence pairs: read, cleaned, packed on disk, and cut into minibatches."""

from rnnsearch.data.batches import Batch, BatchStream, make_batch
from rnnsearch.data.clean import Cleaner, CleaningReport
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.data.prepare import PreparedData, open_prepared, prepare
from rnnsearch.data.read import read_lines, read_pairs

__all__ = [
    "Batch",
    "BatchStream",
    "Cleaner",
    "CleaningReport",
    "PackedCorpus",
    "PreparedData",
    "make_batch",
    "open_prepared",
    "prepare",
    "read_lines",
    "read_pairs",
]
