"""The reference of `rnnsearch check` computes what an independent reading of the paper did; see `test_conformance.py`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rnnsearch.checking.paper import Paper

FOLDER = Path(os.environ.get("RNNSEARCH_CONFORMANCE", Path(__file__).parent))
ORDERS = {
    "rnnsearch-look-generate-update": frozenset[str](),
    "rnnsearch-look-update-generate": frozenset({"updates-before-predicting"}),
}


@pytest.mark.parametrize("name", ORDERS)
def test_reference(name: str) -> None:
    arrays = dict(np.load(FOLDER / f"{name}.npz"))
    weights = {key.removeprefix("param/"): value for key, value in arrays.items() if key.startswith("param/")}
    directions = {key.removeprefix("direction/"): value for key, value in arrays.items() if key.startswith("direction/")}
    pairs = sorted({key.split("/")[0] for key in arrays if key.startswith("pair")})
    paper = Paper(weights, ORDERS[name])
    x, mask = padded([arrays[f"{pair}/x"] for pair in pairs])
    y, y_mask = padded([arrays[f"{pair}/y"] for pair in pairs])
    h = paper.encoder(x, mask)
    p, states, alphas = paper.decode(h, mask, y)
    log_p = paper.log_probability(x, mask, y, y_mask)
    for b, pair in enumerate(pairs):
        Tx, Ty = mask[b].sum(), y_mask[b].sum()
        for ours, key in (
            (h[b, :Tx], "annotations"),
            (states[b, : Ty + 1], "states"),
            (alphas[b, :Ty, :Tx], "alignment"),
            (np.log(p[b, :Ty]), "distributions"),
            (log_p[b], "log_probs"),
        ):
            expected = arrays[f"{pair}/{key}"]
            np.testing.assert_allclose(ours, expected.sum() if key == "log_probs" else expected, rtol=0, atol=1e-9)
        assert not alphas[b, :, Tx:].any()
    assert paper.loss(x, mask, y, y_mask) == pytest.approx(float(arrays["nll"]), abs=1e-9)
    for symbol, derivative in paper.derivatives(directions, x, mask, y, y_mask).items():
        assert derivative == pytest.approx(float(arrays[f"derivative/{symbol}"]), abs=1e-9), symbol


def padded(sentences: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(sentence) for sentence in sentences])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(mask.shape, np.int64)
    ids[mask] = np.concatenate(sentences)
    return ids, mask
