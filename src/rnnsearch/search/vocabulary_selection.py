"""Vocabulary selection: each sentence is translated with the most frequent words and those that its own words suggest.

Jean et al. (2015), section 3.3; Mi et al. (2016). The softmax is then over some thousands of words, not over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import UNK, UNK_SYMBOL


class LexicalSelection:
    """The words that a sentence may be translated with, by a lexicon; see `rnnsearch.search.backend.VocabularySelection`."""

    def __init__(
        self,
        translations: Mapping[str, Sequence[tuple[str, float]]],
        vocabularies: Vocabularies,
        *,
        frequent: int,
        candidates: int,
    ) -> None:
        """The `frequent` most frequent target words, and the best `candidates` of each source word.

        `translations` are, for each source word, target words and their probabilities, the most probable first.
        """
        self.frequent = min(len(vocabularies.target), frequent + 2)  # the vocabulary begins with its two symbols
        self._candidates: dict[int, set[int]] = {}
        for word, others in translations.items():
            number = vocabularies.source.id(word)
            if number != UNK or word == UNK_SYMBOL:
                ids = [vocabularies.target.id(other) for other, _ in others[:candidates]]
                self._candidates.setdefault(number, set()).update(i for i in ids if i >= self.frequent)

    def candidates(self, source: Sequence[int]) -> list[int]:
        """The candidates of these source words that are not among the frequent words."""
        return sorted(set().union(*(self._candidates.get(word, ()) for word in source)))
