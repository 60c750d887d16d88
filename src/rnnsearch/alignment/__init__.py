"""Word alignment of parallel text, learned from this text alone: hidden Markov models of both directions.

vocabulary   words: how they are counted, their stems and classes
bitext       the words and the cells of sentence pairs, as arrays
spelling     how alike two words are written
lexicon      translation probabilities, smoothed
hmm          forward-backward: the posterior probability of every link of a pair, in one direction
compiled     the same, and the expectations of a whole text, as compiled loops
agreement    what is learned, and how: expectation maximisation of both directions, which agree at first
probability  the probability of a link, from all this
aligner      links, and the folder that keeps an aligner
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rnnsearch.alignment.agreement import Corpus, steps
from rnnsearch.alignment.aligner import Aligner, LineLinks, is_aligner
from rnnsearch.alignment.bitext import read_joined
from rnnsearch.data.word_alignments import Links

__all__ = ["Aligner", "Corpus", "LineLinks", "is_aligner", "learned_links", "read_joined", "steps"]


def learned_links(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
    """The links of the words of each pair, learned from all pairs."""
    corpus = Corpus(pairs)
    return (line.links() for line in Aligner.learn(corpus).align(corpus)) if corpus.lines else iter(())
