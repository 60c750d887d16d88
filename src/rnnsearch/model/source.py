"""The encoded source sentences, which are the input of the decoder."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Source:
    """A batch of encoded source sentences: all that the decoder reads of the source."""

    annotations_BSC: Tensor
    """h_j for every source position; values past a sentence's end are undefined."""
    mask_BS: Tensor
    """True where a position belongs to its sentence."""
    summary_BN: Tensor
    """The input of the decoder's initial state: h←_1 of a bidirectional encoder, h→_Tx of a forward-only one."""
    keys_BSA: Tensor | None = None
    """The terms of the alignment model that do not depend on the decoder's state: U_a h_j in the paper's model."""

    def select(self, sentences_b: Tensor) -> Source:
        """Return the sentences with these indices, in this order, truncated to the longest of them."""
        # Positions past the longest of the selected sentences are padding.
        mask_bS = self.mask_BS[sentences_b]
        S = int(mask_bS.sum(1).max())
        return Source(
            self.annotations_BSC[sentences_b, :S],
            mask_bS[:, :S],
            self.summary_BN[sentences_b],
            None if self.keys_BSA is None else self.keys_BSA[sentences_b, :S],
        )

    def concat(self, other: Source) -> Source:
        """Return these sentences followed by those of `other`, padded to the longest."""
        return Source(
            concat_padded(self.annotations_BSC, other.annotations_BSC),
            concat_padded(self.mask_BS, other.mask_BS),
            torch.cat([self.summary_BN, other.summary_BN]),
            None if self.keys_BSA is None or other.keys_BSA is None else concat_padded(self.keys_BSA, other.keys_BSA),
        )


def concat_padded(first: Tensor, second: Tensor, axis: int = 1) -> Tensor:
    """Concatenate two tensors along the first axis, after padding both with zeros to the same size along `axis`."""
    size = max(first.shape[axis], second.shape[axis])
    padded = [nn.functional.pad(x, (0, 0) * (x.dim() - 1 - axis) + (0, size - x.shape[axis])) for x in (first, second)]
    return torch.cat(padded)
