"""Models that write from left to right, and models that write from right to left, as one translator.

What the one begins with the other ends with, and a search's mistakes are made where it begins and suffered where it ends. So
each direction searches, both read all that was found, and what they agree on wins (Liu et al. 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Ranking, best_first
from rnnsearch.translation.mbr import rank_by_mbr
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator


class BidirectionalTranslator(Translator):
    """See `Translator`; a score is the mean of the two directions' log-probabilities, and so is that of every word."""

    def __init__(self, sides: Sequence[Translator]) -> None:
        """`sides` are two: one that writes from left to right, and one from right to left. Their vocabularies may differ."""
        super().__init__(sides[0].system, sides[0].folder)
        self._sides = sides

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._sides,)

    def _kind(self, kind: str) -> str:
        return f"{sum(1 + len(side.others) for side in self._sides)} {kind}, of both directions"

    def _n_best(
        self, lines: list[str], n: int, prefixes: Sequence[str], settings: dict[str, object]
    ) -> list[list[Translation]]:
        """See `Translator.n_best`: of what both directions find, the best by both together.

        They are ranked as search ranks hypotheses (`rnnsearch.search.Ranking`), by both directions' scores and alignments.
        """
        search = self._search(settings)
        if search.temperature:
            raise RnnsearchError(
                f"search.temperature = {search.temperature:g}: models that write in both directions search, and draw "
                "nothing; set it to 0, or give models of one direction"
            )
        wanted = {**settings, "minimum_bayes_risk": False}
        # From right to left first: it refuses a given beginning before anything is searched for.
        found = [side.n_best(lines, max(n, search.beam), prefixes, **wanted) for side in reversed(self._sides)]
        of_lines = [
            list({tuple(one.tokens): one for of_side in of_line for one in of_side}.values())
            for of_line in zip(*found, strict=True)
        ]
        agreed = iter(self._read([translation for of_line in of_lines for translation in of_line]))
        ranking = Ranking(search.length_normalization, search.coverage)
        results = []
        for of_line in of_lines:
            translations = [next(agreed) for _ in of_line]
            translations = best_first(translations, lambda one: ranking.score(one.score, _length(one), one.alignment))
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

    def _read(self, translations: Sequence[Translation]) -> list[Translation]:
        """The same translations, with the scores and alignments that both directions give them."""
        segments = [segment for one in translations for segment in one.segments if segment.source_tokens]
        pairs = iter(self.score_words([s.source_tokens for s in segments], [s.tokens for s in segments]))
        read = []
        for one in translations:
            scored = [next(pairs) if segment.source_tokens else None for segment in one.segments]
            read.append(
                replace(
                    one,
                    score=sum((pair.score for pair in scored if pair), 0.0),
                    segments=[
                        replace(segment, alignment=pair.alignment) if pair else segment
                        for segment, pair in zip(one.segments, scored, strict=True)
                    ],
                )
            )
        return read


def _length(translation: Translation) -> int:
    """Its words, and the end symbols."""
    return len(translation.tokens) + len(translation.segments)


def _mean(pairs: Sequence[ScoredPair]) -> ScoredPair:
    """One pair, as all have scored it."""
    alphas = [pair.alignment for pair in pairs if pair.alignment is not None]
    word_scores = np.mean([pair.word_scores for pair in pairs], axis=0)
    return replace(
        pairs[0],
        score=float(word_scores.sum()),
        word_scores=word_scores.tolist(),
        alignment=np.mean(alphas, axis=0) if alphas else None,
    )
