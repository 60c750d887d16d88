"""Scores of sentence pairs: how well the links of a pair are supported by the links of the whole text.

The score of a pair in the direction that generates the target f from the source e is that of eflomal, with counts of links:

    − 1/Ty · Σ_j log max_i  t(f_j | e_i) · c(i − a_j′) · c(a_j″ − i) · φ(n_i + 1 | e_i) / φ(n_i | e_i)

a_j′ and a_j″ are the source positions of the nearest linked target words before and after j, c is the probability of a jump,
and n_i is the number of other target words that are linked to e_i. t, c and the fertility φ are relative frequencies of the
links, smoothed as in eflomal; t does not count the link of f_j itself, so that a link that occurs only once has no support.
Lower scores are better; because of the ratio of fertilities, they may be negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.agreement import Corpus, reach
from rnnsearch.alignment.bitext import Block
from rnnsearch.alignment.lexicon import values_of
from rnnsearch.alignment.priors import Priors
from rnnsearch.alignment.pseudocounts import from_priors
from rnnsearch.alignment.vocabulary import normalize

Doubles = NDArray[np.float64]
Ids = NDArray[Any]
_LEXICAL, _JUMP, _FERTILITY = 0.001, 0.5, 0.5
"""The pseudo-counts of eflomal: of each target word, of each jump, and of each fertility."""
_JUMPS = 100
"""The number of different jumps by which eflomal normalises."""
_MOST_LINKS = 7
"""The greatest fertility, which words with more links have as well."""
_HARDLY = 1e-10
"""The ratio of fertilities beyond the greatest one, which makes further links of a word almost impossible."""

DirectedLinks = tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
"""Forward and reverse links of a line, (source, target): at most one for each target word, and for each source word."""


def scores(corpus: Corpus, links: Iterable[DirectedLinks], priors: Priors | None = None) -> Iterator[tuple[float, float]]:
    """Yield the forward score (of the target, given the source) and the reverse score of each line.

    `links` are the links of each line of the corpus, whose counts are added to those of `priors`. A line with an empty side
    has the score 0.
    """
    # The first pass counts the links, jumps and fertilities of the whole text; the links of each block are kept in a file.
    of_lines = iter(links)
    directions = [_Direction(corpus, side, priors or Priors.empty()) for side in (0, 1)]
    known = from_priors(priors or Priors.empty(), corpus.words, 1, 0)
    keys, counts = known.keys, known.links.astype(np.float64)
    for number, block in enumerate(corpus.blocks()):
        # Each direction counts its links by word-type pair; the counts of a pair have a column for each direction.
        ends = _ends(block, of_lines)
        for direction, view in zip(directions, _views(block, ends), strict=True):
            linked = direction.count(view)
            types, count = np.unique(linked, return_counts=True)
            of_both = np.zeros((len(types), 2))
            of_both[:, direction.side] = count
            keys, counts = _added(np.append(keys, types), np.append(counts, of_both, axis=0))
        np.savez(_file(corpus, number), *ends)
    for number, block in enumerate(corpus.blocks()):
        # The second pass computes the score of each pair from these counts.
        types = block.type_source.astype(np.int64) * len(corpus.words[1]) + block.type_target
        of_types = values_of(keys, counts, types, np.bool_(True))
        with np.load(_file(corpus, number)) as file:
            views = _views(block, tuple(file.values()))
        of_pairs = np.zeros((len(block.line), 2))
        for pair in np.flatnonzero(np.diff(block.text.offsets)).tolist():
            here = slice(*block.text.offsets[pair : pair + 2])
            of_cells = of_types[block.text.cells[here]].reshape(np.diff(block.text.source_starts)[pair], -1, 2)
            for direction, view in zip(directions, views, strict=True):
                of_pairs[pair, direction.side] = direction.log_probability(view, pair, of_cells)
        yield from _of_lines(block, of_pairs)


class _View(NamedTuple):
    """A block in one direction: the generating words, the generated words, and the links between them."""

    generating: Ids
    """The numbers of the generating words, of one sentence pair after the other."""
    starts: Ids
    """The beginning of each sentence pair in `generating`, and the end of the last one."""
    generated: Ids
    """The numbers of the generated words."""
    generated_starts: Ids
    """The beginning of each sentence pair in `generated`, and the end of the last one."""
    links: Ids
    """For each generated word, the index in `generating` of the word that it is linked to, or −1 for NULL."""


class _Direction:
    """The counts of links, jumps and fertilities in one direction."""

    def __init__(self, corpus: Corpus, side: int, priors: Priors) -> None:
        self.side = side
        self._reach = reach(corpus.longest)
        self._words = len(corpus.words[1 - side])
        self._targets = len(corpus.words[1])
        # The counts of the priors: links of each generating word, jumps of each width, fertilities of each generating word.
        known = from_priors(priors, corpus.words, 1, self._reach)
        self._totals = known.totals.links[side]
        self._jumps = known.jumps[side][0]
        self._fertilities = np.zeros((len(corpus.words[side]), _MOST_LINKS + 1))
        numbers = {word: number for number, word in enumerate(corpus.words[side].words)}
        for (word, fertility), count in (priors.reverse_fertility if side else priors.forward_fertility).items():
            number = numbers.get(normalize(word))
            if number is not None:
                self._fertilities[number, min(fertility, _MOST_LINKS)] += count

    def count(self, view: _View) -> Ids:
        """Add the counts of a block; return the key of the word-type pair of each link."""
        # The links of each generating word.
        linked = np.flatnonzero(view.links >= 0)
        ends = view.links[linked]
        words, others = view.generating[ends].astype(np.int64), view.generated[linked].astype(np.int64)
        self._totals += np.bincount(words, minlength=len(self._totals))
        # The jumps to the position of each link from that of the previous one, or from −1, and the last jump of each pair.
        pairs = np.searchsorted(view.generated_starts, linked, side="right") - 1
        positions = ends - view.starts[pairs]
        first = np.diff(pairs, prepend=-1) > 0
        before = np.where(first, -1, np.roll(positions, 1))
        last = np.flatnonzero(np.diff(pairs, append=np.iinfo(np.int64).max) > 0) if len(pairs) else pairs
        to_end = np.diff(view.starts)[pairs[last]] - positions[last]
        widths = np.concatenate([positions - before, to_end]) + self._reach
        self._jumps += np.bincount(widths, minlength=len(self._jumps))
        # The fertility of each generating word, in pairs with words on both sides.
        fertility = np.minimum(np.bincount(ends, minlength=len(view.generating)), _MOST_LINKS)
        both = np.repeat(np.diff(view.generated_starts) > 0, np.diff(view.starts))
        size = self._fertilities.size
        cells = view.generating.astype(np.int64) * (_MOST_LINKS + 1) + fertility
        self._fertilities += np.bincount(cells[both], minlength=size).reshape(self._fertilities.shape)
        source, target = (words, others) if self.side == 0 else (others, words)
        return np.asarray(source * self._targets + target)

    def log_probability(self, view: _View, pair: int, of_cells_ST2: Doubles) -> float:
        """Return the sum of the logarithms in the equation above, over the generated words of a pair.

        `of_cells` are the links of the word-type pair of each position pair, in both directions. All matrices below are
        generating positions × generated positions.
        """
        here = slice(*view.starts[pair : pair + 2])
        words = view.generating[here]
        ends = view.links[slice(*view.generated_starts[pair : pair + 2])] - here.start
        count = of_cells_ST2[:, :, self.side] if self.side == 0 else of_cells_ST2[:, :, 1].T
        linked = ends >= 0
        # t(f_j | e_i), from the counts of links without that of f_j itself.
        own = (words[:, None] == words[np.maximum(ends, 0)]) & linked
        lexical = (count - own + _LEXICAL) / (self._totals[words][:, None] - own + _LEXICAL * (self._words + 1))
        # The nearest linked words before and after each generated word, in generating positions.
        order = np.arange(len(ends))
        before = np.concatenate([[-1], np.maximum.accumulate(np.where(linked, order, -1))[:-1]])
        before = np.where(before >= 0, ends[before], -1)
        after = np.concatenate([np.minimum.accumulate(np.where(linked, order, len(ends))[::-1])[::-1][1:], [len(ends)]])
        after = np.append(ends, len(words))[after]
        # c(i − a_j′) · c(a_j″ − i), with the same normaliser for both jumps.
        position = np.arange(len(words))[:, None]
        jumps = self._jumps + _JUMP
        total = self._jumps.sum() + _JUMP * _JUMPS
        c = jumps[position - before + self._reach] * jumps[after - position + self._reach] / total**2
        # φ(n_i + 1 | e_i) / φ(n_i | e_i): the fertility of each generating word with this link, over that without it.
        others = np.bincount(ends[linked], minlength=len(words))[:, None] - ((position == ends) & linked)
        fertility = self._fertilities[words][:, None] + _FERTILITY
        ratio = fertility[:, :, 1:] / fertility[:, :, :-1]
        ratio[:, :, -1] = _HARDLY
        phi = np.take_along_axis(ratio[:, 0], np.minimum(others, _MOST_LINKS - 1), axis=1)
        return float(np.log((lexical * c * phi).max(0)).sum())


def _ends(block: Block, of_lines: Iterator[DirectedLinks]) -> tuple[Ids, Ids]:
    """Return the index of the source word of each target word in a block, and the reverse; −1 stands for NULL."""
    text = block.text
    # Links have positions in their line, which begins with the first of its sentence pairs.
    first = np.searchsorted(block.line, np.arange(block.lines))
    ends = np.full(len(text.target_ids), -1, np.int64), np.full(len(text.source_ids), -1, np.int64)
    for source, target in zip(text.source_starts[first].tolist(), text.target_starts[first].tolist(), strict=True):
        forward, reverse = next(of_lines)
        for i, j in forward:
            ends[0][target + j] = source + i
        for i, j in reverse:
            ends[1][source + i] = target + j
    return ends


def _views(block: Block, ends: tuple[Ids, ...]) -> tuple[_View, _View]:
    """Return the block in the direction that generates the target, and in the direction that generates the source."""
    sides = (block.text.source_ids, block.text.source_starts), (block.text.target_ids, block.text.target_starts)
    return _View(*sides[0], *sides[1], ends[0]), _View(*sides[1], *sides[0], ends[1])


def _of_lines(block: Block, of_pairs: Doubles) -> Iterator[tuple[float, float]]:
    """Yield the scores of the lines of a block, from the sums over their sentence pairs."""
    text = block.text
    sums = [np.bincount(block.line, of_pairs[:, side], minlength=block.lines) for side in (0, 1)]
    words = [np.bincount(block.line, np.diff(starts), block.lines) for starts in (text.target_starts, text.source_starts)]
    for line in range(block.lines):
        yield -sums[0][line] / max(words[0][line], 1), -sums[1][line] / max(words[1][line], 1)


def _added(keys: Ids, counts: Doubles) -> tuple[Ids, Doubles]:
    """Return ascending keys without repetition, and the sums of their counts."""
    keys, numbers = np.unique(keys, return_inverse=True)
    return keys, np.stack([np.bincount(numbers, side, len(keys)) for side in counts.T], axis=1)


def _file(corpus: Corpus, number: int) -> Path:
    return corpus.folder / f"links-{number:05}.npz"
