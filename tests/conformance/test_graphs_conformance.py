"""The graphs compute what an independent float64 reading of the paper computed; see `test_conformance.py`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.engine import Engine
from rnnsearch.graphs.weights import Weights
from rnnsearch.weight_names import PAPER_NAMES

FOLDER = Path(os.environ.get("RNNSEARCH_CONFORMANCE", Path(__file__).parent))
TOLERANCE = 1e-4


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.npz")), ids=lambda path: path.stem)
def test_graphs(path: Path) -> None:
    arrays = dict(np.load(path))
    architecture, order = path.stem.split("-", 1)
    param = {key.removeprefix("param/"): value for key, value in arrays.items() if key.startswith("param/")}
    config = ModelConfig(
        embedding_size=param["E_src"].shape[1],
        hidden_size=len(param["U_fwd"]),
        alignment_size=len(param["v_a"]) if "v_a" in param else 1,
        maxout_size=len(param["b_o"]) // 2,
        alignment="none" if architecture == "rnnencdec" else "mlp",
        decoder_order=order,
    )
    named = {ours: param[paper].astype(np.float32) for ours, paper in PAPER_NAMES.items() if paper in param}
    assert len(named) == len(param)
    engine = Engine(config, Weights(named))
    for pair in sorted({key.split("/")[0] for key in arrays if key.startswith("pair")}):
        x, y = arrays[f"{pair}/x"].astype(np.int64), arrays[f"{pair}/y"].astype(np.int64)

        def close(ours: np.ndarray, key: str, pair: str = pair) -> None:
            expected = arrays[f"{pair}/{key}"]
            assert ours.shape == expected.shape
            np.testing.assert_allclose(ours, expected, rtol=0, atol=TOLERANCE, err_msg=f"{pair} {key}")

        source = engine.encode(x[None], np.array([len(x)]))
        close(source["annotations"][0, : len(x)], "annotations")
        ours, states, alphas, log_p = source, [source["state"]], [], []
        for word in (-1, *y):
            ours = engine.step(source, ours, np.array([[0]]), np.array([[word]]), 1, ("log_p",))
            states.append(ours["state"])
            log_p.append(ours["log_p"][0, 0])
            alphas.append(ours["alpha"][0, 0, : len(x)] if "alpha" in ours else [])
        # The state after the word y_i is s_i, or, where a word is predicted before the update, that of a step later.
        states = states[1:] if order == "look-generate-update" else states[:-1]
        close(np.concatenate(states)[:, : config.hidden_size], "states")
        close(np.array(log_p[:-1]), "distributions")
        close(np.array(log_p)[np.arange(len(y)), y], "log_probs")
        if config.alignment != "none":
            close(np.array(alphas[:-1]), "alignment")
