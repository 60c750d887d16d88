"""Small models with random weights, as PyTorch has them and as graphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from _pytest.mark.structures import ParameterSet

from products import every_pair
from rnnsearch.config import ModelConfig
from rnnsearch.graphs.weights import Weights
from rnnsearch.model import RNNsearch

SOURCE_WORDS, TARGET_WORDS = 17, 19
SIZES = {"embedding_size": 6, "hidden_size": 7, "alignment_size": 5, "maxout_size": 6}


KINDS = (
    ("gated", "lstm", "tanh"),
    ("mlp", "none", "dot", "bilinear", "location", "monotonic"),
    ("look-generate-update", "look-update-generate"),
    (1, 2),
)


def every_model() -> list[ParameterSet]:
    """`combinations` for `pytest.mark.parametrize`; `make test` takes those that have all pairs of kinds."""
    kinds = every_pair(*KINDS)
    return [pytest.param(one, id=name(one), marks=kind.marks) for one, kind in zip(combinations(), kinds, strict=True)]


def combinations() -> Iterator[ModelConfig]:
    """Every cell with every alignment model, in both orders, with one layer and two; and the rest in turn."""
    for number, (cell, alignment, order, layers) in enumerate(product(*KINDS)):
        yield ModelConfig(
            **SIZES,
            cell=cell,
            alignment=alignment,
            decoder_order=order,
            encoder="forward" if alignment == "none" or number % 3 == 0 else "bidirectional",
            encoder_layers=1 + (layers + number // 4) % 2,
            decoder_layers=layers,
            layer_norm=number % 5 < 2,
            tied_embedding=number % 7 < 3,
        )


def name(config: ModelConfig) -> str:
    """A short name of such a model, for a test."""
    more = [word for word in ("layer_norm", "tied_embedding") if getattr(config, word)]
    order = config.decoder_order.split("-")[1]
    layers = f"{config.encoder_layers}+{config.decoder_layers}"
    return "-".join([config.cell, config.alignment, order, config.encoder, layers, *more])


def random_model(config: ModelConfig, seed: int = 1, scale: float = 0.4) -> RNNsearch:
    """A model whose weights, biases included, are all random; it computes by its own plain code."""
    model = RNNsearch(config, SOURCE_WORDS, TARGET_WORDS).eval()
    model.recurrences = None
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, scale, generator=generator)
    return model


def weights_of(part: torch.nn.Module) -> Weights:
    """The weights as a weight file has them."""
    return Weights({name: parameter.detach().numpy() for name, parameter in part.named_parameters()})


def random_words(random: np.random.Generator, lengths: list[int], words: int) -> np.ndarray[Any, Any]:
    """Sentences of these lengths, with the end symbol, which they count, and zeros after it."""
    found = np.zeros((len(lengths), max(lengths)), np.int64)
    for row, length in zip(found, lengths, strict=True):
        row[: length - 1] = random.integers(1, words, length - 1)
    return found
