"""Word alignment of parallel text, learned from this text alone: hidden Markov models of both directions that agree.

bitext     the words and the cells of sentence pairs, as arrays
hmm        forward-backward: the posterior probability of every link of a pair, in one direction
compiled   the same, and the expectations of a whole text, as compiled loops
agreement  what is learned, and how: expectation maximisation of both directions, which agree
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rnnsearch.alignment.agreement import Aligner, LineLinks, train_aligner
from rnnsearch.alignment.bitext import Bitext, read_joined
from rnnsearch.data.word_alignments import Links

__all__ = ["Aligner", "Bitext", "LineLinks", "learned_links", "read_joined", "train_aligner"]


def learned_links(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
    """The links of the words of each pair, learned from all pairs."""
    return (line.links() for line in train_aligner(Bitext.of(pairs)).lines())
