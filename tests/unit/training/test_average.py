"""The moving average of the weights."""

from __future__ import annotations

import torch

from rnnsearch.training.average import WeightAverage
from toy import toy_config, toy_system


def test_it_is_the_weighted_sum_of_the_weights_it_has_seen() -> None:
    model, decay = toy_system(toy_config()).model, 0.8
    average = WeightAverage(model, decay)
    weight = model.decoder.W_s
    expected = weight.detach().double().clone()
    for update in range(1, 61):
        with torch.no_grad():
            weight.add_(torch.randn_like(weight))
        average.updated(update)
        if update % WeightAverage.EVERY == 0:
            kept = min(decay, (1 + update) / (10 + update)) ** WeightAverage.EVERY
            expected = kept * expected + (1 - kept) * weight.detach().double()
    assert torch.allclose(average.weights["decoder.W_s"].double(), expected, atol=1e-5)
    assert kept == decay**WeightAverage.EVERY, "the young average's faster decay is over"


def test_what_is_in_use_is_the_average_and_only_for_so_long() -> None:
    model = toy_system(toy_config()).model
    average = WeightAverage(model, 0.9)
    weight = model.decoder.W_s
    before, averaged = weight.detach().clone(), average.weights["decoder.W_s"].clone()
    with torch.no_grad():
        weight.zero_()
    with average.in_use():
        assert model.decoder.W_s is weight, "the optimizer goes on with the same parameter"
        assert torch.equal(weight, averaged)
        assert torch.equal(weight, before)
    assert not weight.any()
