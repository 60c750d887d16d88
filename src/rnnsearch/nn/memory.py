"""The memory of an attention layer, prepared once for all steps."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rnnsearch.errors import RnnsearchError
from rnnsearch.model.attention import masked_softmax


class Memory(NamedTuple):
    """A memory that `Attention.prepare` has prepared, once for all steps. X is 1, or the number of queries."""

    values: Tensor
    """The vectors whose weighted mean is the context, (B, S, value_size)."""
    keys: Tensor | None = None
    """The terms of the energies that depend on the memory alone, (B, S, units); None if an attention has none."""
    mask: Tensor | None = None
    """True at the positions that may be attended to, (B, X, S); None if these are all positions."""
    bias: Tensor | None = None
    """A term that is added to the energies, (B, X, S)."""

    def softmax(self, energy_BKS: Tensor) -> Tensor:
        """Return the softmax of energies plus bias, (B, K, S), over the positions where the mask is True; zero elsewhere."""
        if self.bias is not None:
            energy_BKS = energy_BKS + self.bias.to(energy_BKS.dtype)
        return torch.softmax(energy_BKS, -1) if self.mask is None else masked_softmax(energy_BKS, self.mask)

    def of_query(self, k: int) -> Memory:
        """Return the memory with the mask and the bias of query k alone."""
        return self._replace(mask=_of_query(self.mask, k), bias=_of_query(self.bias, k))

    def expect_queries(self, K: int) -> None:
        """Raise RnnsearchError unless the mask and the bias are for K queries."""
        for tensor in (self.mask, self.bias):
            if tensor is not None and tensor.shape[1] != 1 and tensor.shape[1] != K:
                raise RnnsearchError(f"mask is for {tensor.shape[1]} queries of each sequence, but there are {K}")


def _of_query(tensor_BXS: Tensor | None, k: int) -> Tensor | None:
    """Return the part (B, 1, S) of query k; a part that all queries share is returned unchanged."""
    return tensor_BXS if tensor_BXS is None or tensor_BXS.shape[1] == 1 else tensor_BXS[:, k : k + 1]
