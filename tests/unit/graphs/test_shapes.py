"""The names and shapes of parameters are those that the PyTorch model has, for every kind of model."""

from __future__ import annotations

import pytest
from small_models import SOURCE_WORDS, TARGET_WORDS, combinations, name, random_model

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.shapes import alignment_layer_shapes, model_shapes
from rnnsearch.model import AlignmentLayer


@pytest.mark.parametrize("config", list(combinations()), ids=name)
def test_shapes_are_those_of_the_model(config: ModelConfig) -> None:
    model = random_model(config)
    expected = {key: tuple(parameter.shape) for key, parameter in model.named_parameters()}
    assert model_shapes(config, SOURCE_WORDS, TARGET_WORDS) == expected
    if model.aligns:
        layer = AlignmentLayer(model)
        assert alignment_layer_shapes(config) == {key: tuple(one.shape) for key, one in layer.named_parameters()}
