"""Beam search for the best translations, its backends, constraints and ranking; the scoring of given translations."""

from __future__ import annotations

from rnnsearch.search.backend import Backend, VocabularySelection
from rnnsearch.search.ensemble import EnsembleBackend
from rnnsearch.search.hypothesis import Hypothesis
from rnnsearch.search.next_words import next_words
from rnnsearch.search.onnx import OnnxBackend
from rnnsearch.search.pair_scoring import OnnxPairScorer, PairScorer, PairScores
from rnnsearch.search.query import Query
from rnnsearch.search.ranking import Ranking, best_first
from rnnsearch.search.search import Search, search_all
from rnnsearch.search.terms import Term, Terms

__all__ = [
    "Backend",
    "EnsembleBackend",
    "Hypothesis",
    "OnnxBackend",
    "OnnxPairScorer",
    "PairScorer",
    "PairScores",
    "Query",
    "Ranking",
    "Search",
    "Term",
    "Terms",
    "VocabularySelection",
    "best_first",
    "next_words",
    "search_all",
]
