"""The selection of rows of a matrix, with a derivative that does not sort."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def gather_distinct(matrix: Tensor, index_R: Tensor, distinct: int) -> Tensor:
    """Return the rows (R, N) of a matrix (X, N) with the indices `index_R`.

    The first `distinct` indices must differ from each other. Later rows are padding, and nothing may depend on them.
    PyTorch's derivative of indexing sorts the indices to sum the gradients of equal indices; this derivative copies rows.
    """
    rows_RN: Tensor = _GatherDistinct.apply(matrix, index_R, distinct)
    return rows_RN


class _GatherDistinct(torch.autograd.Function):
    """The implementation of `gather_distinct`."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, index_R: Tensor, distinct: int) -> Tensor:
        ctx.save_for_backward(index_R[:distinct])
        ctx.size = len(matrix)
        return matrix.index_select(0, index_R)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (index_P,), d_rows_RN = ctx.saved_tensors, gradients[0]
        # Distinct indices: each row of the gradient is copied to its place, without any sum; rows of padding are ignored.
        d_matrix = d_rows_RN.new_zeros(ctx.size, d_rows_RN.shape[1])
        return d_matrix.index_copy_(0, index_P, d_rows_RN[: len(index_P)]), None, None
