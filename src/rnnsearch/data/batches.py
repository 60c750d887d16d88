"""Minibatches of padded sentence pairs; each depends only on the corpus, the settings and its own number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.data.augment import Augmentation, Link
from rnnsearch.data.pack import PackedCorpus, Sentences
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import END

Integers = NDArray[np.int64]


WIDTH_MULTIPLE = 4
"""S and T are multiples of this, to limit the number of shapes: libraries cache code for every shape of a product."""


@dataclass(frozen=True)
class Batch:
    """A minibatch of B sentence pairs, padded to S source and T target positions.

    Every sentence ends with the end symbol and is padded with it; the lengths include the first end symbol.
    """

    source_BS: Integers
    source_lengths_B: Integers
    target_BT: Integers
    target_lengths_B: Integers
    guide_BTS: NDArray[np.float32] | None = None
    """The alignment to be learned, or None without word alignments. The row of a linked target position has equal weights,
    which sum to 1, on the source positions that it is linked to; all other rows are 0."""

    def part(self, number: int, count: int) -> Batch:
        """Return every `count`-th sentence pair, beginning with pair `number`, without padding that these do not need."""
        x_lengths_B, y_lengths_B = self.source_lengths_B[number::count], self.target_lengths_B[number::count]
        S, T = _width(x_lengths_B), _width(y_lengths_B)
        return Batch(
            self.source_BS[number::count, :S],
            x_lengths_B,
            self.target_BT[number::count, :T],
            y_lengths_B,
            None if self.guide_BTS is None else self.guide_BTS[number::count, :T, :S],
        )


def make_batch(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Return the minibatch of these pairs of (source ids, target ids), which have no end symbols yet."""
    source, target = (Sentences.of(side) for side in zip(*pairs, strict=True))
    return _batch(source, target)


def _batch(source: Sentences, target: Sentences) -> Batch:
    return Batch(*_padded(source), *_padded(target))


def _padded(sentences: Sentences) -> tuple[Integers, Integers]:
    """Return a matrix with a padded sentence in each row, and the lengths, which include the first end symbol."""
    lengths = sentences.lengths.astype(np.int64)
    padded = np.full((len(lengths), _width(lengths + 1)), END, dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = sentences.ids
    return padded, lengths + 1


def _width(lengths: Integers) -> int:
    """Return the number of positions of a minibatch whose sentences have these lengths, including end symbols."""
    return -(-int(lengths.max()) // WIDTH_MULTIPLE) * WIDTH_MULTIPLE


class SubwordSampling:
    """Segments the words of every minibatch into subwords at random, so that the model sees words in many segmentations."""

    def __init__(self, vocabularies: Vocabularies, alpha: float, seed: int) -> None:
        """`alpha` is that of `Subwords.sample`. Raises RnnsearchError if a side has no subwords."""
        if not all(vocabulary.subwords for vocabulary in vocabularies):
            raise RnnsearchError(
                f"training.subword_sampling = {alpha}: these words are not segmented into subwords; prepare the text with "
                "data.subwords=bpe, or leave it at 0"
            )
        self._vocabularies, self._alpha, self._seed = vocabularies, alpha, seed

    def __call__(self, number: int, sides: tuple[Sentences, Sentences]) -> tuple[Sentences, Sentences]:
        """Return the pairs of minibatch `number` in a segmentation that depends only on `number`, the seed and the words."""
        random = Random(f"minibatch {number} of seed {self._seed}")
        source, target = (
            Sentences.of(
                [
                    vocabulary.resample(ids.tolist(), self._alpha, random)
                    for ids in np.split(side.ids, np.cumsum(side.lengths)[:-1])
                ]
            )
            for vocabulary, side in zip(self._vocabularies, sides, strict=True)
        )
        return source, target


class Guide:
    """Turns the word alignments of a corpus into the targets of guided alignment of a minibatch (`Batch.guide_BTS`)."""

    def __init__(self, links: PackedCorpus, vocabularies: Vocabularies) -> None:
        """`links` holds the links of every pair of the corpus under the number of the pair."""
        self._links, self._vocabularies = links, vocabularies

    def links(self, pairs: Integers) -> list[list[Link]]:
        """Return the links of the pairs with these numbers. Raises RnnsearchError if the file is damaged."""
        sources, targets = self._links.take(pairs)
        if not np.array_equal(sources.lengths, targets.lengths):
            raise self._damaged()
        ends = np.cumsum(sources.lengths)[:-1]
        sides = (np.split(side.ids, ends) for side in (sources, targets))
        return [list(zip(source.tolist(), target.tolist(), strict=True)) for source, target in zip(*sides, strict=True)]

    def __call__(self, batch: Batch, links: Sequence[Sequence[Link]]) -> Batch:
        """Return the minibatch with the `guide_BTS` for these links of its pairs.

        Raises RnnsearchError for a link to a word that does not exist.
        """
        guide_BTS = np.zeros((len(links), batch.target_BT.shape[1], batch.source_BS.shape[1]), np.float32)
        for guide_TS, x_S, S, y_T, T, linked_words in zip(
            *(guide_BTS, batch.source_BS, batch.source_lengths_B - 1, batch.target_BT, batch.target_lengths_B - 1, links),
            strict=True,
        ):
            # All subwords of linked words are linked: word_ids maps the position of a subword to that of its word.
            source_word_ids, target_word_ids = (
                vocabulary.join(ids.tolist())[1]
                for vocabulary, ids in zip(self._vocabularies, (x_S[:S], y_T[:T]), strict=True)
            )
            linked = np.zeros((T + 1, S + 1), np.float32)
            try:
                for source, target in linked_words:
                    linked[target, source] = 1
            except IndexError:
                raise self._damaged() from None
            guide_TS[:T, :S] = linked[np.ix_(target_word_ids, source_word_ids)]
        guide_BTS /= np.maximum(guide_BTS.sum(2, keepdims=True), 1)
        return replace(batch, guide_BTS=guide_BTS)

    def _damaged(self) -> RnnsearchError:
        return RnnsearchError(f"{self._links.path}: a link is outside of its pair: the file is damaged; prepare it again")


class BatchStream:
    """The minibatches of one epoch after another, without end; an epoch contains every pair once.

    As in the paper (appendix B.2), pools of `pool_batches` × `batch_size` pairs are sorted by the longer of the two lengths
    of a pair and cut into minibatches. `shuffle="once"` takes pairs, pools and minibatches in the order of the corpus, which
    `prepare` has shuffled; `"epoch"` draws a new order of the pairs, and then of the minibatches, for each epoch.
    """

    def __init__(
        self,
        corpus: PackedCorpus,
        *,
        batch_size: int,
        pool_batches: int,
        shuffle: Literal["once", "epoch"],
        seed: int,
        augmentation: Augmentation | None = None,
        subword_sampling: SubwordSampling | None = None,
        guide: Guide | None = None,
    ) -> None:
        self.batches_per_epoch = -(-len(corpus) // batch_size)
        self._corpus = corpus
        self._batch_size = batch_size
        self._pool_batches = pool_batches
        self._shuffle = shuffle
        self._seed = seed
        self._augmentation = augmentation
        self._subword_sampling = subword_sampling
        self._guide = guide
        # Caches: the orders of the last epoch, and the last sorted pool, which the next minibatch usually needs again.
        self._epoch: tuple[int, Integers, Integers] | None = None
        self._pool: tuple[tuple[int, int], Integers] | None = None

    def batch(self, number: int) -> Batch:
        """Return minibatch `number`, counted over all epochs from 0.

        It depends only on the corpus, the settings and `number`, so that a resumed training continues with the same
        minibatches as an uninterrupted one.
        """
        epoch, index = divmod(number, self.batches_per_epoch)
        if self._shuffle == "epoch":
            index = int(self._orders(epoch)[1][index])
        pool, cut = divmod(index, self._pool_batches)
        pairs = self._sorted_pool(epoch, pool)[cut * self._batch_size : (cut + 1) * self._batch_size]
        # Within a minibatch, targets are sorted by descending length, so that a recurrence can drop finished sentences.
        pairs = pairs[np.argsort(-self._corpus.lengths(pairs)[1], kind="stable")]
        sides = self._corpus.take(pairs)
        links = self._guide.links(pairs) if self._guide else [[] for _ in pairs]
        if self._augmentation:
            sides, links = self._augmentation(number, sides, links)
        if self._subword_sampling:
            sides = self._subword_sampling(number, sides)
        if self._augmentation or self._subword_sampling:
            order = np.argsort(-sides[1].lengths, kind="stable")
            sides, links = (sides[0][order], sides[1][order]), [links[i] for i in order]
        batch = _batch(*sides)
        return self._guide(batch, links) if self._guide else batch

    def _orders(self, epoch: int) -> tuple[Integers, Integers]:
        """Return the random order of the pairs in this epoch, and that of its minibatches."""
        if self._epoch is None or self._epoch[0] != epoch:
            random = np.random.Generator(np.random.PCG64([self._seed, epoch]))
            pairs = random.permutation(len(self._corpus))
            self._epoch = (epoch, pairs, random.permutation(self.batches_per_epoch))
        return self._epoch[1:]

    def _sorted_pool(self, epoch: int, pool: int) -> Integers:
        """Return the numbers of the pairs of this pool, the shortest pair first."""
        if self._pool is None or self._pool[0] != (epoch, pool):
            size = self._pool_batches * self._batch_size
            start, end = pool * size, min((pool + 1) * size, len(self._corpus))
            pairs = self._orders(epoch)[0][start:end] if self._shuffle == "epoch" else np.arange(start, end)
            by_length = np.argsort(np.maximum(*self._corpus.lengths(pairs)), kind="stable")
            self._pool = ((epoch, pool), pairs[by_length])
        return self._pool[1]
