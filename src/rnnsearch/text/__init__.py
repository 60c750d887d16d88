"""From text to words and back: Moses tokenisation, normalisation, the shortlist of words that a model knows, or subwords.

Or, instead of words, characters or symbols (`rnnsearch.text.units`).
"""

from rnnsearch.text.subwords import Subwords
from rnnsearch.text.tokenize import Tokenizer, language_of
from rnnsearch.text.units import Units, units_of
from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import END, END_SYMBOL, UNK, UNK_SYMBOL, Vocabulary

__all__ = [
    "END",
    "END_SYMBOL",
    "UNK",
    "UNK_SYMBOL",
    "Subwords",
    "Tokenizer",
    "Units",
    "Vocabularies",
    "Vocabulary",
    "language_of",
    "units_of",
]
