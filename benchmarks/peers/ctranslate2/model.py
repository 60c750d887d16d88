"""Transformers of random weights, as CTranslate2 reads them, for `ctranslate2_serving.py`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import TransformerSpec


@dataclass(frozen=True)
class Size:
    """A Transformer's: the layers of either side, their width, their heads, and the words of either vocabulary."""

    layers: int
    width: int
    heads: int
    words: int


def write_transformer(folder: Path, size: Size, words: list[str], precision: str) -> int:
    """Write a model of CTranslate2 whose weights are random; its number of parameters."""
    spec = TransformerSpec.from_config(size.layers, size.heads)
    width, inner = size.width, 4 * size.width
    tokens = ["<unk>", "<s>", "</s>", *words]
    generator, parameters = np.random.default_rng(1), 0

    def normal(rows: int, columns: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        nonlocal parameters
        parameters += rows * columns
        drawn: np.ndarray[Any, np.dtype[np.float32]] = generator.standard_normal((rows, columns)).astype(np.float32)
        return drawn / np.float32(columns**0.5)

    def linear(layer: Any, rows: int, columns: int = width) -> None:
        layer.weight, layer.bias = normal(rows, columns), np.zeros(rows, np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(width, np.float32), np.zeros(width, np.float32)

    for side in (spec.encoder, spec.decoder):
        norm(side.layer_norm)
        embeddings = side.embeddings if side is spec.decoder else side.embeddings[0]
        embeddings.weight = normal(len(tokens), width)
        side.position_encodings.encodings = _positions(width)
        for layer in side.layer:
            norm(layer.self_attention.layer_norm)
            linear(layer.self_attention.linear[0], 3 * width)
            linear(layer.self_attention.linear[1], width)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, inner)
            linear(layer.ffn.linear_1, width, inner)
            if side is spec.decoder:
                norm(layer.attention.layer_norm)
                for part, rows in enumerate((width, 2 * width, width)):
                    linear(layer.attention.linear[part], rows)
    linear(spec.decoder.projection, len(tokens))
    spec.config.add_source_eos = True
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize(quantization=None if precision == "float32" else precision)
    folder.mkdir()
    spec.save(str(folder))
    return parameters


def _positions(width: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    angles = np.arange(512)[:, None] / 10_000 ** (np.arange(width // 2) / (width // 2))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
