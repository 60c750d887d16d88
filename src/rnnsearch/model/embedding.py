"""Words as vectors, and how training keeps some of them from being read."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rnnsearch.ops import drop


def read_words(
    ids: Tensor, E: Tensor, sparse_gradient: bool = False, dropout: float = 0.0, word_dropout: float = 0.0
) -> Tensor:
    """The embeddings (…, E) of word ids (…). `word_dropout` zeroes whole words, `dropout` single numbers of the others.

    With a `sparse_gradient`, that of E holds only the rows of the words that are there.
    """
    x = drop(nn.functional.embedding(ids, E, sparse=sparse_gradient), dropout)
    return x * drop(torch.ones_like(x[..., :1]), word_dropout) if word_dropout else x
