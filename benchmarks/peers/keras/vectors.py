"""What Keras's AdditiveAttention computes, as vectors for the tests of `rnnsearch.nn`.

    pip install --target KERAS keras && KERAS_BACKEND=torch PYTHONPATH=KERAS python benchmarks peers/keras/vectors

The layer is called with random queries, values, keys and masks, in float64. Its inputs and outputs are written to
`tests/unit/keras_additive_attention.npz`, so that the tests do not need Keras.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np

from rnnsearch.atomic import atomic_write

VECTORS = Path(__file__).parents[3] / "tests" / "unit" / "keras_additive_attention.npz"
B, K, S, UNITS, VALUE = 3, 4, 6, 5, 7
LENGTHS = np.array([6, 1, 3])


def main() -> None:
    """Call the layer in all ways that have a counterpart, and write the file."""
    keras.config.set_floatx("float64")  # otherwise it rounds its inputs to float32
    random = np.random.default_rng(1)
    query, value, key = (random.normal(size=(B, *shape)) for shape in ((K, UNITS), (S, UNITS), (S, UNITS)))
    wide, scale = random.normal(size=(B, S, VALUE)), random.normal(size=UNITS)
    value_mask, query_mask = np.arange(S) < LENGTHS[:, None], np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0]], bool)
    vectors: dict[str, Any] = {"query": query, "value": value, "key": key, "wide": wide, "scale": scale}
    vectors |= {"lengths": LENGTHS, "query_mask": query_mask, "version": np.array(keras.__version__)}
    calls: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "plain": ([query, value], {}),
        "masked": ([query, value], {"mask": [None, value_mask]}),
        "key": ([query, wide, key], {"mask": [None, value_mask]}),
        "query_mask": ([query, value], {"mask": [query_mask, value_mask]}),
        "causal": ([query, value], {"use_causal_mask": True}),
    }
    for name, (inputs, more) in calls.items():
        layer = keras.layers.AdditiveAttention()
        layer.build([x.shape for x in inputs])
        layer.scale.assign(scale)
        context, weights = layer(inputs, return_attention_scores=True, **more)
        vectors |= {f"{name}_context": keras.ops.convert_to_numpy(context)}
        vectors |= {f"{name}_weights": keras.ops.convert_to_numpy(weights)}
    layer = keras.layers.AdditiveAttention(use_scale=False)
    vectors["unscaled_context"] = keras.ops.convert_to_numpy(layer([query, value]))
    with atomic_write(VECTORS) as path, path.open("wb") as file:
        np.savez_compressed(file, **vectors)
    print(f"wrote {VECTORS}")
