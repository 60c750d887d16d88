"""Sentence pairs: read, cleaned, packed on disk, and cut into minibatches."""

from rnnsearch.corpus.batches import Batch, BatchStream, make_batch
from rnnsearch.corpus.clean import Cleaner, CleaningReport
from rnnsearch.corpus.pack import PackedCorpus
from rnnsearch.corpus.prepare import PreparedData, open_prepared, prepare
from rnnsearch.corpus.read import read_lines, read_pairs

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
