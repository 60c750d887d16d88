"""Some rows of a matrix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def distinct_rows(matrix_XN: Tensor, rows_Q: Tensor, count: int) -> Tensor:
    """Rows of a matrix, (Q, N): the first `count` are distinct; those after them mean nothing, and nothing depends on them.

    Indexing's own derivative sorts the rows, to add up what belongs to the same one; this one copies.
    """
    taken: Tensor = _DistinctRows.apply(matrix_XN, rows_Q, count)
    return taken


class _DistinctRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix_XN: Tensor, rows_Q: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(rows_Q[:count])
        ctx.size = len(matrix_XN)
        return matrix_XN.index_select(0, rows_Q)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (rows_P,), d_QN = ctx.saved_tensors, gradients[0]
        d_XN = d_QN.new_zeros(ctx.size, d_QN.shape[1])
        return d_XN.index_copy_(0, rows_P, d_QN[: len(rows_P)]), None, None
