"""Training of the alignment layer, which learns the links of word-aligned sentence pairs while the model stays fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rnnsearch.data.batches import make_batch
from rnnsearch.data.length_batches import by_length
from rnnsearch.data.word_alignments import Links
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.model import AlignmentLayer
from rnnsearch.ops import fast_products
from rnnsearch.system import System

_BATCH_SIZE = 32
_EPOCHS, _UPDATES = 40, 2000
"""The training ends after this many epochs or this many updates, whichever comes first."""
_LEARNING_RATE = 1e-2
_SEED = 1


@dataclass(frozen=True)
class LinkedPair:
    """The words of a sentence pair, with the probability of each link (source position, target position)."""

    source: list[str]
    target: list[str]
    links: dict[tuple[int, int], float]

    @classmethod
    def of(cls, source: list[str], target: list[str], links: Links) -> LinkedPair:
        """Return a pair whose links all have probability 1."""
        return cls(source, target, dict.fromkeys(links, 1.0))


class AlignmentLayerTraining:
    """The training of an alignment layer on sentence pairs with links.

    The cost is the binary cross-entropy of a link at every pair of subword positions; two subwords are linked if their
    words are. Pairs with more words than `data.max_length` on a side, or with none, are skipped. The result depends only on
    the pairs and their order.
    """

    def __init__(self, system: System, pairs: Sequence[LinkedPair]) -> None:
        longest = system.config.data.max_length
        self._system = system
        self._pairs = [pair for pair in pairs if 0 < len(pair.source) <= longest and 0 < len(pair.target) <= longest]
        self._ids = [system.vocabularies.encode(*system.seen(pair.source, pair.target)) for pair in self._pairs]
        self._batches = list(by_length([max(len(x), len(y)) + 1 for x, y in self._ids], _BATCH_SIZE))
        self.updates = min(_EPOCHS * len(self._batches), _UPDATES)
        """The number of updates of this training."""

    def run(self, advance: Callable[[int], None] = lambda updates: None) -> System:
        """Train an alignment layer, and return the system with it; the weights of the model do not change.

        `advance` is called with the number of updates done since its last call.
        """
        system, device = self._system, device_of(self._system.model)
        layer = AlignmentLayer(system.model)
        layer.initialize(_SEED)
        layer.to(device)
        optimizer = torch.optim.Adam(layer.parameters(), lr=_LEARNING_RATE)
        decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / max(1, self.updates))
        for indices in islice(self._shuffled(), self.updates):
            tensors = batch_tensors(make_batch([self._ids[i] for i in indices]), device)
            with torch.no_grad(), fast_products():
                output = system.model(*tensors)
            cost = self._cost(layer(system.model, output, *tensors), [self._pairs[i] for i in indices])
            optimizer.zero_grad()
            cost.backward()
            torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
            optimizer.step()
            decay.step()
            advance(1)
        return System(system.config, system.vocabularies, system.model, layer.eval())

    def _shuffled(self) -> Iterator[list[int]]:
        """Yield the minibatches of one epoch after another, without end, each epoch in a new random order."""
        random = Random(_SEED)
        while True:
            yield from random.sample(self._batches, len(self._batches))

    def _cost(self, logits_BTS: Tensor, pairs: Sequence[LinkedPair]) -> Tensor:
        """Return the binary cross-entropy of the links in nats, summed over the minibatch, per target word."""
        T, S = logits_BTS.shape[1:]
        position_pairs = [_position_pairs(self._system, pair, S) for pair in pairs]
        # Only position pairs inside their sentence pair count: the padding is left out by indexing.
        indices = torch.from_numpy(np.concatenate([b * T * S + inside for b, (inside, _) in enumerate(position_pairs)]))
        linked = torch.from_numpy(np.concatenate([linked for _, linked in position_pairs])).to(logits_BTS.device)
        logits = logits_BTS.flatten()[indices.to(logits_BTS.device)]
        cost = nn.functional.binary_cross_entropy_with_logits(logits, linked, reduction="sum")
        return cost / sum(len(pair.target) for pair in pairs)


def _position_pairs(system: System, pair: LinkedPair, width: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the flat index of every pair of subword positions of a sentence pair, and the probability of its link.

    The index is that of a flattened array of target × source positions with `width` columns.
    """
    seen_source, seen_target = system.seen(pair.source, pair.target)
    source_word_ids = np.array(system.vocabularies.source.word_ids(seen_source), np.int64)
    target_word_ids = np.array(system.vocabularies.target.word_ids(seen_target), np.int64)
    linked = np.zeros((len(pair.target), len(pair.source)), np.float32)
    for (source, target), probability in pair.links.items():
        linked[target, source] = probability
    indices = np.arange(len(target_word_ids))[:, None] * width + np.arange(len(source_word_ids))
    return indices.ravel(), linked[np.ix_(target_word_ids, source_word_ids)].ravel()
