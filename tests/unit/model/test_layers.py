"""Further layers and layer normalisation, against a literal transcription of what their docstrings say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.model import RNNsearch
from rnnsearch.model.layers import DecoderLayer, EncoderLayer
from toy import DEEPER, random_model

Vectors = NDArray[np.float64]
N, S, B = 4, 5, 2


def config_of(**more: Any) -> ModelConfig:
    return ModelConfig(embedding_size=3, hidden_size=N, alignment_size=5, maxout_size=2, **more)


def in_float64(module: Any) -> Any:
    module.double().requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    for parameter in module.parameters():
        parameter.normal_(0, 0.5, generator=generator)
    return module


def normalized(norm: torch.nn.LayerNorm, x: Vectors) -> Vectors:
    """g ∘ (x − mean) / deviation + b."""
    centred = x - x.mean(-1, keepdims=True)
    return norm.weight.numpy() * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) + norm.bias.numpy()


def unit(cell: torch.nn.Module, s: Vectors, inputs: Vectors) -> Vectors:
    """The gated unit, of one sentence; `inputs` is W x + C c + b for candidate, z and r."""
    U, U_z, U_r = (cell.get_parameter(name).numpy() for name in ("U", "U_z", "U_r"))
    z, r = 1 / (1 + np.exp(-(inputs[N : 2 * N] + U_z @ s))), 1 / (1 + np.exp(-(inputs[2 * N :] + U_r @ s)))
    return (1 - z) * s + z * np.tanh(inputs[:N] + U @ (r * s))


def test_normalization() -> None:
    norm, x = in_float64(torch.nn.LayerNorm(6)), torch.randn(3, 6, dtype=torch.float64)
    np.testing.assert_allclose(norm(x).numpy(), normalized(norm, x.numpy()), rtol=0, atol=1e-12)


def test_an_encoder_layer_adds_what_it_reads_in_both_directions() -> None:
    layer = in_float64(EncoderLayer(config_of(layer_norm=True), 2 * N))
    below = torch.randn(S, B, 2 * N, dtype=torch.float64)
    lengths = [S, S - 2]
    mask = torch.arange(S).unsqueeze(1) < torch.tensor(lengths)
    found = layer(below, mask, None, 0.0).numpy()
    for sentence, length in enumerate(lengths):
        x = normalized(layer.norm, below[:length, sentence].numpy())
        expected = below[:length, sentence].numpy().copy()
        for cell, order, units in (
            (layer.forward_cell, range(length), slice(0, N)),
            (layer.backward_cell, range(length - 1, -1, -1), slice(N, 2 * N)),
        ):
            state = np.zeros(N)
            for j in order:
                state = unit(cell, state, cell.project_input(torch.from_numpy(x[j])).numpy())
                expected[j, units] += state
        np.testing.assert_allclose(found[:length, sentence], expected, rtol=0, atol=1e-12)


def test_a_decoder_layer_adds_what_it_makes_of_states_and_contexts() -> None:
    layer = in_float64(DecoderLayer(config_of(layer_norm=True), 2 * N))
    s, contexts = torch.randn(S, 1, N, dtype=torch.float64), torch.randn(S, 1, 2 * N, dtype=torch.float64)
    found = layer(s, contexts, torch.ones(S, 1, dtype=torch.bool), None, 0.0).numpy()
    x, u = normalized(layer.norm, s.numpy()), np.zeros(N)
    for i in range(S):
        inputs = layer.cell.project_input(torch.from_numpy(x[i, 0])) + layer.cell.project_context(contexts[i, 0])
        u = unit(layer.cell, u, inputs.numpy())
        np.testing.assert_allclose(found[i, 0], s[i, 0].numpy() + u, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_deeper_models_begin_as_steadily_as_others(alignment: str) -> None:
    """Gains are one and biases zero, whichever way the matrices are drawn."""
    for scheme in ("paper", "glorot"):
        model = RNNsearch(config_of(alignment=alignment, **DEEPER), 8, 7)
        model.initialize(scheme, 1)
        gains = [parameter for name, parameter in model.named_parameters() if name.endswith("norm.weight")]
        assert len(gains) == 1 + 2 + 1 + 1, "the encoder's layer, the decoder's two, the annotations, the maxout layer"
        assert all((gain == 1).all() for gain in gains)
        assert all((p == 0).all() for name, p in model.named_parameters() if name.endswith("norm.bias"))


def test_the_annotations_that_are_attended_to_are_normalized() -> None:
    model = random_model(config_of(layer_norm=True), 8, 7, seed=1)
    with torch.no_grad():
        model.encoder.norm.weight.fill_(1.0)
        model.encoder.norm.bias.zero_()
        source = model.encode(torch.tensor([[3, 2, 0]]), torch.tensor([3]))
    h = source.annotations_BSC
    torch.testing.assert_close(h.mean(-1), torch.zeros_like(h[..., 0]), rtol=0, atol=1e-12)
    torch.testing.assert_close(source.summary_BN, h[:, 0, N:])
