"""Vocabulary selection by a lexicon: the softmax is over a small part of the target vocabulary.

A translation may use the most frequent target words and the likely translations of its source words: some thousands of words
instead of the whole vocabulary (Jean et al. 2015, section 3.3; Mi et al. 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import UNK, UNK_SYMBOL


class LexicalSelection:
    """Vocabulary selection by a lexicon; see `rnnsearch.search.backend.VocabularySelection`."""

    def __init__(
        self,
        translations: Mapping[str, Sequence[tuple[str, float]]],
        vocabularies: Vocabularies,
        *,
        frequent: int,
        candidates: int,
    ) -> None:
        """Allow the `frequent` most frequent target words, and the best `candidates` translations of each source word.

        `translations` maps each source word to target words and their probabilities, the most probable first.
        """
        self.frequent = min(len(vocabularies.target), frequent + 2)  # the vocabulary begins with its two symbols
        self._candidates: dict[int, set[int]] = {}
        # The candidates of each source word, without the frequent words, which are allowed anyway.
        for word, targets in translations.items():
            source_id = vocabularies.source.id(word)
            if source_id != UNK or word == UNK_SYMBOL:
                ids = [vocabularies.target.id(target) for target, _ in targets[:candidates]]
                self._candidates.setdefault(source_id, set()).update(i for i in ids if i >= self.frequent)

    def candidates(self, source: Sequence[int]) -> list[int]:
        """Return the ids of the candidates of these source words, without the frequent words, in ascending order."""
        return sorted(set().union(*(self._candidates.get(word, ()) for word in source)))
