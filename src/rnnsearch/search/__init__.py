"""Search for the best translations: beam search, its backends, and the constraints and ranking of hypotheses."""

from __future__ import annotations

from rnnsearch.search.backend import Backend, VocabularySelection
from rnnsearch.search.beam import Hypothesis, Query, Search, beam_search, search_all
from rnnsearch.search.ensemble import EnsembleBackend
from rnnsearch.search.next_words import next_words
from rnnsearch.search.onnx import OnnxBackend
from rnnsearch.search.ranking import Ranking, best_first
from rnnsearch.search.terms import Term, Terms

__all__ = [
    "Backend",
    "EnsembleBackend",
    "Hypothesis",
    "OnnxBackend",
    "Query",
    "Ranking",
    "Search",
    "Term",
    "Terms",
    "VocabularySelection",
    "beam_search",
    "best_first",
    "next_words",
    "search_all",
]
