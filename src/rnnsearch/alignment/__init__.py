"""Word alignment of parallel text, learned from this text alone: hidden Markov models of both directions.

vocabulary   words: their normalised forms, frequencies, stems and classes
ascending    ascending numbers in files, as their differences
bitext       the words and the position pairs of sentence pairs, as arrays
spelling     the similarity of the spellings of two words
priors       counts of links in eflomal's format
pseudocounts prior knowledge of an aligner, as counts that are added to those of its text
lexicon      translation probabilities, with smoothing
hmm          forward-backward: the posterior probability of every link of a sentence pair, in one direction
compiled     the same for a whole text, and its expected counts
loops        loops over position pairs, compiled by Numba
agreement    training: expectation maximisation of both directions, first with agreement, then without
probability  the probability of a link, predicted from the posteriors and other features
aligner      links, and the folder that stores an aligner
scores       scores of sentence pairs by their links, as eflomal computes them
tables       lexical translation tables, counted from links, in the formats of other programs
segments     links in the positions of subwords
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rnnsearch.alignment.agreement import Corpus, Quality, steps
from rnnsearch.alignment.aligner import Aligner, is_aligner
from rnnsearch.alignment.bitext import read_joined
from rnnsearch.alignment.line_links import LineLinks
from rnnsearch.alignment.priors import Priors
from rnnsearch.data.word_alignments import Links

__all__ = ["Aligner", "Corpus", "LineLinks", "Priors", "Quality", "is_aligner", "learned_links", "read_joined", "steps"]


def learned_links(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
    """Train an aligner on all sentence pairs, and return the links of each pair."""
    corpus = Corpus(pairs)
    return (line.links() for line in Aligner.learn(corpus).align(corpus))
