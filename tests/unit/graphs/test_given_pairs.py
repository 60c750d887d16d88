"""Given pairs in ONNX Runtime: what PyTorch computes for every kind of model, and the same bits in any batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from small_models import SOURCE_WORDS, TARGET_WORDS, combinations, every_model, name, random_model, weights_of

from rnnsearch.config import ModelConfig
from rnnsearch.data.batches import make_batch
from rnnsearch.model import AlignmentLayer, RNNsearch
from rnnsearch.search.pair_scoring import OnnxPairScorer, PairScorer, PairScores
from rnnsearch.search.plain import PlainPairScorer

TOLERANCE = 1e-5
LENGTHS = [(3, 6), (8, 2), (0, 4), (19, 0), (0, 0), (5, 17)]
"""Of a source and its translation, without the end symbols."""

Pairs = list[tuple[list[int], list[int]]]


def random_pairs(seed: int = 3) -> Pairs:
    random = np.random.default_rng(seed)
    sides = [(random.integers(1, SOURCE_WORDS, S), random.integers(1, TARGET_WORDS, T)) for S, T in LENGTHS]
    return [(source.tolist(), target.tolist()) for source, target in sides]


def read(scorer: PairScorer, pairs: Pairs, links: bool = False) -> list[PairScores]:
    """What is read of each pair, without padding."""
    given = scorer(make_batch(pairs), links)
    return [
        PairScores(
            given.log_p_BT[b, : len(y) + 1],
            None if given.alpha_BTS is None else given.alpha_BTS[b, : len(y) + 1, : len(x) + 1],
            None if given.links_BTS is None else given.links_BTS[b, : len(y), : len(x)],
        )
        for b, (x, y) in enumerate(pairs)
    ]


def same(one: PairScores, other: PairScores, tolerance: float) -> None:
    for what, expected in vars(other).items():
        found = getattr(one, what)
        assert (found is None) == (expected is None), what
        if found is not None:
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=what)


def random_layer(model: RNNsearch) -> AlignmentLayer:
    layer, generator = AlignmentLayer(model), torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(0, 0.4, generator=generator)
    return layer


@pytest.mark.parametrize("config", every_model())
def test_they_are_read_as_in_pytorch(config: ModelConfig) -> None:
    model, pairs = random_model(config), random_pairs()
    ours = read(OnnxPairScorer(config, weights_of(model)), pairs)
    for one, other in zip(ours, read(PlainPairScorer(model), pairs), strict=True):
        same(one, other, TOLERANCE)
        assert (one.alpha_BTS is None) == (config.alignment == "none")
        assert one.links_BTS is None


@pytest.mark.parametrize("config", list(islice(combinations(), 0, None, 4)), ids=name)
def test_a_pair_has_the_same_bits_alone_and_in_a_batch(config: ModelConfig) -> None:
    scorer, pairs = OnnxPairScorer(config, weights_of(random_model(config))), random_pairs()
    for pair, together in zip(pairs, read(scorer, pairs), strict=True):
        (alone,) = read(scorer, [pair])
        same(alone, together, 0)


@pytest.mark.parametrize("order", ["look-generate-update", "look-update-generate"])
@pytest.mark.parametrize("encoder", ["bidirectional", "forward"])
@pytest.mark.parametrize("decoder_layers", [1, 2])
def test_links_of_the_alignment_layer(order: str, encoder: str, decoder_layers: int) -> None:
    kind = {"decoder_order": order, "encoder": encoder, "decoder_layers": decoder_layers, "tied_embedding": False}
    config = replace(next(combinations()), **kind)
    model, pairs = random_model(config), random_pairs()
    layer = random_layer(model)
    scorer = OnnxPairScorer(config, weights_of(model), weights_of(layer))
    ours = read(scorer, pairs, links=True)
    for pair, one, other in zip(pairs, ours, read(PlainPairScorer(model, layer), pairs, links=True), strict=True):
        assert one.links_BTS is not None
        same(one, other, TOLERANCE)
        same(read(scorer, [pair], links=True)[0], one, 1e-6)
    assert read(scorer, pairs)[0].links_BTS is None
