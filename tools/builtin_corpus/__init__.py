"""The generator of the built-in corpus: English sentences, their French translations, and gold word alignments.

A small bilingual grammar generates as many sentence pairs as are asked for: one tree is drawn at random and spoken in
both languages. Word order, agreement, elision, negation, clitics and tenses differ between the two as they do
in life, so a translator has to learn them; the French is a function of the English sentence alone, so it can.
Sentences run from 3 words to 60; words follow Zipf's law, and rare names lie beyond any shortlist.

>>> from builtin_corpus import generate
>>> for pair in generate(2, seed=4):
...     print(pair.source_text, pair.target_text, pair.pharaoh, sep=" | ")
He will know a doctor. | Il connaîtra un médecin. | 0-0 1p1 2-1 3-2 4-3 5-4
Who do her teachers know? | Qui est-ce que ses professeurs connaissent ? | 0-0 1p1 1p2 1p5 2-3 3-4 4-5 5-6
"""

from __future__ import annotations

from .corpus import generate
from .pairs import AlignedPair

__all__ = ["AlignedPair", "generate"]
