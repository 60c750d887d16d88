"""The built-in corpus: English sentences, their French translations, and gold word alignments.

The corpus is generated, to any size, by a small bilingual grammar: one tree is drawn at random and spoken in
both languages. Word order, agreement, elision, negation, clitics and tenses differ between the two as they do
in life, so a translator has to learn them; the French is a function of the English sentence alone, so it can.
Sentences run from 3 words to 60; words follow Zipf's law, and rare names lie beyond any shortlist.

    >>> from rnnsearch.corpus.builtin import generate
    >>> pair = next(generate(1, seed=1))
    >>> pair.source_text, pair.target_text, pair.pharaoh
"""

from __future__ import annotations

from .corpus import generate, write_corpus
from .pairs import AlignedPair

__all__ = ["AlignedPair", "generate", "write_corpus"]
