"""Training of the alignment layer: it learns given links of sentence pairs, on top of a model that stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from rnnsearch.model_folder import System
from rnnsearch.ops import fast_products

_BATCH_SIZE = 32
_EPOCHS, _UPDATES = 40, 2000
"""The training ends with whichever comes first."""
_LEARNING_RATE = 1e-2
_SEED = 1


@dataclass(frozen=True)
class LinkedPair:
    """The words of a sentence pair, and the probability of each of their links (source, target)."""

    source: list[str]
    target: list[str]
    links: dict[tuple[int, int], float]

    @classmethod
    def of(cls, source: list[str], target: list[str], links: Links) -> LinkedPair:
        """A pair whose links are certain."""
        return cls(source, target, dict.fromkeys(links, 1.0))


class AlignmentLayerTraining:
    """The training of an alignment layer on the links of these pairs.

    The cost is the cross-entropy of the links of all pairs of subwords, where those of linked words are linked. Pairs that
    are longer than `data.max_length`, and those without words on a side, are passed over. The result depends on the pairs
    and their order alone.
    """

    def __init__(self, system: System, pairs: Sequence[LinkedPair]) -> None:
        longest = system.config.data.max_length
        self._system = system
        self._pairs = [pair for pair in pairs if 0 < len(pair.source) <= longest and 0 < len(pair.target) <= longest]
        self._ids = [system.vocabularies.encode(*system.seen(pair.source, pair.target)) for pair in self._pairs]
        self._batches = list(by_length([max(len(x), len(y)) + 1 for x, y in self._ids], _BATCH_SIZE))
        self.updates = min(_EPOCHS * len(self._batches), _UPDATES)
        """The number of its updates."""

    def run(self, advance: Callable[[int], None] = lambda updates: None) -> System:
        """The system with an alignment layer that has learned; the model itself is not changed.

        `advance` is told how many more updates are done.
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
        return replace(system, alignment_layer=layer.eval())

    def _shuffled(self) -> Iterator[list[int]]:
        """The minibatches of an endless number of epochs."""
        random = Random(_SEED)
        while True:
            yield from random.sample(self._batches, len(self._batches))

    def _cost(self, logits_BTS: Tensor, pairs: Sequence[LinkedPair]) -> Tensor:
        """The cross-entropy of the links, a target word."""
        T, S = logits_BTS.shape[1:]
        cells = [_cells(self._system, pair, S) for pair in pairs]
        places = torch.from_numpy(np.concatenate([b * T * S + places for b, (places, _) in enumerate(cells)]))
        linked = torch.from_numpy(np.concatenate([linked for _, linked in cells])).to(logits_BTS.device)
        logits = logits_BTS.flatten()[places.to(logits_BTS.device)]
        cost = nn.functional.binary_cross_entropy_with_logits(logits, linked, reduction="sum")
        return cost / sum(len(pair.target) for pair in pairs)


def _cells(system: System, pair: LinkedPair, width: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The place of each pair of subwords in a flat array whose rows are so wide, and the probability of its link."""
    seen_source, seen_target = system.seen(pair.source, pair.target)
    source_word_ids = np.array(system.vocabularies.source.word_ids(seen_source), np.int64)
    target_word_ids = np.array(system.vocabularies.target.word_ids(seen_target), np.int64)
    linked = np.zeros((len(pair.target), len(pair.source)), np.float32)
    for (source, target), probability in pair.links.items():
        linked[target, source] = probability
    places = np.arange(len(target_word_ids))[:, None] * width + np.arange(len(source_word_ids))
    return places.ravel(), linked[np.ix_(target_word_ids, source_word_ids)].ravel()
