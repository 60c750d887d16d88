"""Left-to-right (L2R) and right-to-left (R2L) models as one translator.

A search conditions each word on the words before it, so its errors accumulate towards the end of the sentence, which is the
beginning for a model of the other direction. Each direction therefore searches by itself and also scores the candidates of
the other one, and the candidate with the best mean score wins (Liu et al. 2016).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Ranking, best_first
from rnnsearch.search.terms import ASTRAY, DOUBLED
from rnnsearch.translation.alignments import Alignment
from rnnsearch.translation.glossary import Glossary
from rnnsearch.translation.mbr import rank_by_mbr
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Segment, Translation
from rnnsearch.translation.translator import Translator


class BidirectionalTranslator(Translator):
    """A `Translator` whose scores, also those of words, are means of the log-probabilities of both directions."""

    def __init__(self, sides: Sequence[Translator]) -> None:
        """`sides` are an L2R and an R2L translator. Their vocabularies may differ."""
        super().__init__([system for side in sides for system in side.systems], sides[0].folder)
        self._sides = sides

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._sides,)

    @property
    def kind(self) -> str:
        """See `Translator.kind`."""
        kind = "RNNsearch" if self.system.aligns else "RNNencdec"
        return f"{len(self.systems)} {kind}, of both directions"

    def requests(self, *_: object, **__: object) -> NoReturn:
        """Raise RnnsearchError: the directions have no common search, and therefore no `next_words`."""
        raise RnnsearchError("L2R and R2L models together have no common search; give models of one direction")

    def n_best_of_sentences(
        self, sentences: Sequence[str], n: int, prefixes: Sequence[str], glossary: Glossary, settings: Mapping[str, object]
    ) -> list[list[Translation]]:
        """See `Translator`; the candidates are those of both directions.

        They are ranked as search ranks hypotheses (`rnnsearch.search.Ranking`), by the mean score and alignment of both
        directions.
        """
        search = self.search_settings(settings)
        if search.temperature:
            raise RnnsearchError(
                f"search.temperature = {search.temperature:g}: L2R and R2L models together cannot "
                "draw samples; set it to 0, or give models of one direction"
            )
        side_settings = {**settings, "minimum_bayes_risk": False}
        # The R2L side comes first, because it refuses a prefix before any search has begun.
        n_best_of_sides = [
            side.n_best_of_sentences(sentences, max(n, search.beam), prefixes, glossary, side_settings)
            for side in reversed(self._sides)
        ]
        candidates = [_candidates(n_best_lists) for n_best_lists in zip(*reversed(n_best_of_sides), strict=True)]
        self._score_each_other([of_sides for line in candidates for of_sides in line])
        ranking = Ranking(search.length_normalization, search.coverage)
        results = []
        for line in candidates:
            translations = best_first(
                [_mean_of_sides(of_sides) for of_sides in line],
                lambda one: ranking.score(one.score - DOUBLED * _doubled(one), _length(one), one.alignment),
            )
            if search.minimum_bayes_risk:
                translations = rank_by_mbr(translations)
            results.append(best_first(translations, lambda one: -len(one.missing))[:n])
        return results

    def _score_each_other(self, candidates: Sequence[list[Translation | None]]) -> None:
        """Replace each None: let a side score the candidates that only the other side has."""
        for number, side in enumerate(self._sides):
            missing = [of_sides for of_sides in candidates if of_sides[number] is None]
            others = [next(filter(None, of_sides)) for of_sides in missing]
            for of_sides, translation in zip(missing, _scored(side, others), strict=True):
                of_sides[number] = translation

    def score_words(
        self,
        sources: Sequence[list[str]],
        targets: Sequence[list[str]],
        *,
        with_alignment: bool = True,
        first_line: int = 1,
    ) -> list[ScoredPair]:
        """See `Translator`."""
        scored = [
            side.score_words(sources, targets, with_alignment=with_alignment, first_line=first_line) for side in self._sides
        ]
        return [_mean_pair(pairs) for pairs in zip(*scored, strict=True)]


def _candidates(n_best_lists: Sequence[Sequence[Translation]]) -> list[list[Translation | None]]:
    """Return the distinct candidates of a line, each as the translations of both sides; None for a side that lacks it.

    Each side cuts a long line into segments by its own subwords, so the same words in other segments are another candidate.
    """
    by_segments = [
        {tuple((segment.source_start, *segment.tokens) for segment in one.segments): one for one in n_best}
        for n_best in n_best_lists
    ]
    return [[side.get(segments) for side in by_segments] for segments in dict.fromkeys(chain(*by_segments))]


def _scored(side: Translator, translations: Sequence[Translation]) -> Iterator[Translation]:
    """Return the same translations with the score and the alignment of this side."""
    segments = [segment for one in translations for segment in one.segments if segment.source_tokens]
    pairs = iter(side.score_words([s.source_tokens for s in segments], [s.tokens for s in segments]))
    for one in translations:
        scored = [(segment, next(pairs) if segment.source_tokens else None) for segment in one.segments]
        yield replace(
            one,
            score=sum((pair.score for _, pair in scored if pair), 0.0),
            segments=[_aligned(segment, [pair]) if pair else segment for segment, pair in scored],
        )


def _mean_of_sides(of_sides: Sequence[Translation | None]) -> Translation:
    """Return a candidate with the mean score and the mean alignment of both sides."""
    first, *others = filter(None, of_sides)
    segments = zip(first.segments, *(one.segments for one in others), strict=True)
    score = float(np.mean([first.score, *(one.score for one in others)]))
    return replace(first, score=score, segments=[_aligned(of[0], of) for of in segments])


def _aligned(segment: Segment, aligned: Sequence[Segment | ScoredPair]) -> Segment:
    """Return a segment with the mean of the given alignments."""
    return replace(
        segment,
        alignment=_mean([one.alignment for one in aligned]),
        end_alignment=_mean([one.end_alignment for one in aligned]),
    )


def _length(translation: Translation) -> int:
    """Return the number of target words, including end symbols."""
    return len(translation.tokens) + len(translation.segments)


def _doubled(translation: Translation) -> int:
    """Return the number of terms whose source words are also translated by other words; see `rnnsearch.search.terms`."""
    if translation.alignment is None:
        return 0
    count = 0
    for term in translation.terms:
        attention_T = translation.alignment[:, term.source_start : term.source_stop].sum(1)
        attention_T[term.target_start : term.target_stop] = 0
        count += bool(attention_T.sum() > ASTRAY)
    return count


def _mean(alignments: Sequence[Alignment | None]) -> Alignment | None:
    """Return the mean of the arrays that are not None."""
    there = [alignment for alignment in alignments if alignment is not None]
    return np.mean(there, axis=0) if there else None


def _mean_pair(pairs: Sequence[ScoredPair]) -> ScoredPair:
    """Return a pair with the mean of the given scores and alignments."""
    word_scores = np.mean([pair.word_scores for pair in pairs], axis=0)
    return replace(
        pairs[0],
        score=float(word_scores.sum()),
        word_scores=word_scores.tolist(),
        alignment=_mean([pair.alignment for pair in pairs]),
        end_alignment=_mean([pair.end_alignment for pair in pairs]),
    )
