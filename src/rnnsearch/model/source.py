"""Source sentences as the decoder reads them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Source:
    """A batch of encoded source sentences: everything that the decoder may read of them."""

    annotations_BSC: Tensor
    """h_j, for every source position; past a sentence's end their values mean nothing."""
    mask_BS: Tensor
    """True where a position belongs to its sentence."""
    summary_BN: Tensor
    """What the decoder's first state is made of: h←_1 of a bidirectional encoder, h→_Tx of a forward one."""
    keys_BSA: Tensor | None = None
    """The half of the alignment model that does not depend on the decoder's state; U_a h_j for the paper's."""

    def select(self, sentences_b: Tensor) -> Source:
        """The sentences of the given indices, in that order, without the positions that none of them needs."""
        mask_bS = self.mask_BS[sentences_b]
        S = int(mask_bS.sum(1).max())
        return Source(
            self.annotations_BSC[sentences_b, :S],
            mask_bS[:, :S],
            self.summary_BN[sentences_b],
            None if self.keys_BSA is None else self.keys_BSA[sentences_b, :S],
        )

    def concat(self, other: Source) -> Source:
        """These sentences, then the others, padded to the longest."""
        return Source(
            concat_padded(self.annotations_BSC, other.annotations_BSC),
            concat_padded(self.mask_BS, other.mask_BS),
            torch.cat([self.summary_BN, other.summary_BN]),
            None if self.keys_BSA is None or other.keys_BSA is None else concat_padded(self.keys_BSA, other.keys_BSA),
        )


def concat_padded(one: Tensor, two: Tensor, axis: int = 1) -> Tensor:
    """Two tensors one after the other, both padded with zeros to the same size of the given axis."""
    size = max(one.shape[axis], two.shape[axis])
    padded = [nn.functional.pad(x, (0, 0) * (x.dim() - 1 - axis) + (0, size - x.shape[axis])) for x in (one, two)]
    return torch.cat(padded)
