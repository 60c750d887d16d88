"""Search for the best translations: beam search, its backends, and the constraints and ranking of hypotheses."""

from __future__ import annotations

from collections.abc import Sequence

from rnnsearch.model import RNNsearch
from rnnsearch.ops.packed import WeightPrecision
from rnnsearch.search.backend import Backend, VocabularySelection
from rnnsearch.search.beam import Hypothesis, Query, Search, beam_search, search_all, slots
from rnnsearch.search.ensemble import EnsembleBackend
from rnnsearch.search.fast import FastBackend
from rnnsearch.search.next_words import next_words
from rnnsearch.search.plain import PlainBackend
from rnnsearch.search.ranking import Ranking, best_first
from rnnsearch.search.terms import Term, Terms

__all__ = [
    "Backend",
    "Hypothesis",
    "Query",
    "Ranking",
    "Search",
    "Term",
    "Terms",
    "VocabularySelection",
    "beam_search",
    "best_first",
    "choose_backend",
    "next_words",
    "search_all",
    "slots",
]


def choose_backend(
    models: Sequence[RNNsearch], precision: WeightPrecision = "fp32", selection: VocabularySelection | None = None
) -> Backend:
    """The backend for a model, or for an ensemble of several: fast for each model that `FastBackend` implements, else plain.

    With vocabulary selection, all members of an ensemble need the same kind of backend: plain if any of them needs it.
    """
    fast = [FastBackend.implements(model) for model in models]
    if selection is not None and not all(fast):
        fast = [False] * len(models)
    backends: list[Backend] = [
        FastBackend(model, precision, selection) if is_fast else PlainBackend(model, selection)
        for model, is_fast in zip(models, fast, strict=True)
    ]
    return backends[0] if len(backends) == 1 else EnsembleBackend(backends)
