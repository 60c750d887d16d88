"""Left-to-right (L2R) and right-to-left (R2L) models as one translator.

A search conditions each word on the words before it, so its errors accumulate towards the end of the sentence, which is the
beginning for a model of the other direction. Each direction therefore searches by itself, the models of both directions
score every candidate that either found, and the candidate with the best mean score wins (Liu et al. 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Ranking, best_first
from rnnsearch.search.terms import ASTRAY, DOUBLED
from rnnsearch.translation.glossary import Glossary
from rnnsearch.translation.mbr import rank_by_mbr
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator


class BidirectionalTranslator(Translator):
    """See `Translator`; a score is the mean of the two directions' log-probabilities, and so is that of every word."""

    def __init__(self, sides: Sequence[Translator]) -> None:
        """`sides` are an L2R and an R2L translator. Their vocabularies may differ."""
        super().__init__(sides[0].system, sides[0].folder)
        self._sides = sides

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._sides,)

    @property
    def kind(self) -> str:
        """See `Translator.kind`."""
        kind = "RNNsearch" if self.system.model.aligns else "RNNencdec"
        return f"{sum(1 + len(side.others) for side in self._sides)} {kind}, of both directions"

    def _n_best(
        self, lines: list[str], n: int, prefixes: Sequence[str], glossary: Glossary, settings: dict[str, object]
    ) -> list[list[Translation]]:
        """See `Translator.n_best`: the best of the candidates that either direction found.

        They are ranked as search ranks hypotheses (`rnnsearch.search.Ranking`), by the mean score and alignment of both
        directions.
        """
        search = self.search_settings(settings)
        if search.temperature:
            raise RnnsearchError(
                f"search.temperature = {search.temperature:g}: L2R and R2L models together cannot "
                "draw samples; set it to 0, or give models of one direction"
            )
        wanted = {**settings, "minimum_bayes_risk": False}
        # R2L first: it refuses a prefix before anything is searched for.
        found = [side.n_best(lines, max(n, search.beam), prefixes, glossary, **wanted) for side in reversed(self._sides)]
        # Of every line, the candidates of both sides; a translation that both found is one candidate.
        candidates = [
            list({tuple(one.tokens): one for n_best in n_best_lists for one in n_best}.values())
            for n_best_lists in zip(*found, strict=True)
        ]
        scored = iter(self._scored([translation for translations in candidates for translation in translations]))
        ranking = Ranking(search.length_normalization, search.coverage)
        results = []
        for translations in candidates:
            translations = [next(scored) for _ in translations]
            translations = best_first(
                translations, lambda one: ranking.score(one.score - DOUBLED * _doubled(one), _length(one), one.alignment)
            )
            results.append((rank_by_mbr(translations) if search.minimum_bayes_risk else translations)[:n])
        return results

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
        return [_mean(pairs) for pairs in zip(*scored, strict=True)]

    def _scored(self, translations: Sequence[Translation]) -> list[Translation]:
        """The same translations, with the mean score and alignment of both directions."""
        segments = [segment for one in translations for segment in one.segments if segment.source_tokens]
        pairs = iter(self.score_words([s.source_tokens for s in segments], [s.tokens for s in segments]))
        results = []
        for one in translations:
            scored = [next(pairs) if segment.source_tokens else None for segment in one.segments]
            results.append(
                replace(
                    one,
                    score=sum((pair.score for pair in scored if pair), 0.0),
                    segments=[
                        replace(segment, alignment=pair.alignment, end_alignment=pair.end_alignment) if pair else segment
                        for segment, pair in zip(one.segments, scored, strict=True)
                    ],
                )
            )
        return results


def _length(translation: Translation) -> int:
    """The number of target words, end symbols included."""
    return len(translation.tokens) + len(translation.segments)


def _doubled(translation: Translation) -> int:
    """The number of terms whose source words have been translated by other words too; see `rnnsearch.search.terms`."""
    if translation.alignment is None:
        return 0
    count = 0
    for term in translation.terms:
        attention_T = translation.alignment[:, term.source_start : term.source_stop].sum(1)
        attention_T[term.target_start : term.target_stop] = 0
        count += bool(attention_T.sum() > ASTRAY)
    return count


def _mean(pairs: Sequence[ScoredPair]) -> ScoredPair:
    """A pair with the mean of the given scores and alignments."""
    alphas = [pair.alignment for pair in pairs if pair.alignment is not None]
    end_alphas = [pair.end_alignment for pair in pairs if pair.end_alignment is not None]
    word_scores = np.mean([pair.word_scores for pair in pairs], axis=0)
    return replace(
        pairs[0],
        score=float(word_scores.sum()),
        word_scores=word_scores.tolist(),
        alignment=np.mean(alphas, axis=0) if alphas else None,
        end_alignment=np.mean(end_alphas, axis=0) if end_alphas else None,
    )
