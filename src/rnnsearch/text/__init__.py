"""The conversion of text to words and back: tokenisation, normalisation, vocabularies of words, and subwords.

Text can also be cut into characters or symbols instead of words (`rnnsearch.text.units`).
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
