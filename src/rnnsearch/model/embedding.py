"""Word embeddings, and the dropout of whole words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch import ops


def read_words(
    ids: Tensor, E: Tensor, sparse_gradient: bool = False, dropout: float = 0.0, word_dropout: float = 0.0
) -> Tensor:
    """Return the embeddings (…, E) of word ids (…); `word_dropout` zeroes whole vectors, `dropout` single elements.

    With `sparse_gradient`, the gradient of E holds only the rows of the words that occur.
    """
    x = ops.dropout(nn.functional.embedding(ids, E, sparse=sparse_gradient), dropout)
    return x * ops.dropout(torch.ones_like(x[..., :1]), word_dropout) if word_dropout else x
