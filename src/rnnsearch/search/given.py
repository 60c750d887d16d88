"""Given translations: log p of their words, the alignment, and the links of the alignment layer, without a search.

The words are forced through the graph of a step of search. A pair has the same numbers whatever the other pairs are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.data.batches import Batch
from rnnsearch.graphs.alignment_layer import alignment_layer
from rnnsearch.graphs.engine import POSITIONS, Arrays, Runnable
from rnnsearch.graphs.weights import Weights
from rnnsearch.search.backend import Integers
from rnnsearch.search.onnx import NO_WORD, OnnxBackend


@dataclass
class Given:
    """What a model makes of the pairs of a minibatch; what is there of padding means nothing."""

    log_p_BT: NDArray[np.float64]
    """log p of each target word, the end symbol included, given those before it."""
    alpha_BTS: NDArray[np.float32] | None
    """α of each target word; None without an alignment model."""
    links_BTS: NDArray[np.float32] | None = None
    """The probability that two words are linked, where these were wanted and the model has an alignment layer."""


class Reader(Protocol):
    """A model that reads given pairs. `PlainReader` is the reference implementation."""

    def __call__(self, batch: Batch, links: bool = False) -> Given:
        """Read the pairs of a minibatch, and link their words if `links` are wanted."""
        ...


class OnnxReader:
    """A model's graphs, in float32. See `Reader`."""

    def __init__(self, config: ModelConfig, weights: Weights, layer: Weights | None = None) -> None:
        """`layer` is the alignment layer, if the model has one."""
        self._config, self._backend = config, OnnxBackend(config, weights)
        self._layer = None if layer is None else Runnable(alignment_layer(config, weights, layer))

    def __call__(self, batch: Batch, links: bool = False) -> Given:
        """See `Reader`."""
        B, (T, S) = len(batch.source_BS), (batch.target_BT.shape[1], batch.source_BS.shape[1])
        # A matrix of one row is multiplied in another order; and the readers of positions take them in eights.
        rows = np.resize(np.arange(B), max(2, B))
        x_BS = np.pad(batch.source_BS, ((0, 0), (0, -S % POSITIONS)))[rows]
        lengths_B, y_BT = batch.source_lengths_B[rows], batch.target_BT[rows]
        layer = self._layer if links else None
        source = self._backend.encode(x_BS, lengths_B)
        source["lengths"] = lengths_B
        forced = self._forced(source, y_BT, batch.target_lengths_B[rows], states=layer is not None)
        given = Given(forced["log_p"][:B], forced["alpha"][:B, :, :S] if "alpha" in forced else None)
        if layer is not None:
            forced |= {"words": x_BS, "target_words": y_BT, "target_lengths": batch.target_lengths_B[rows]}
            found = layer({**source, **forced}, ["probabilities"])
            given.links_BTS = found["probabilities"][:B, :T, :S]
        return given

    def _forced(self, source: Arrays, y_BT: Integers, lengths_B: Integers, states: bool) -> Arrays:
        """`log_p` (B, T), `alpha` (B, T, S), and, if wanted, the `states` s_0 … s_T (B, T + 1, N) of these words."""
        (B, T), step = y_BT.shape, self._backend.step("given")
        order_B = np.argsort(-lengths_B, kind="stable")  # so that the pairs that are not done are the first ones
        source = {name: array[order_B] for name, array in source.items()}
        y_BT, lengths_B = y_BT[order_B], lengths_B[order_B]
        S, N = source["values"].shape[1], self._config.hidden_size
        forced: Arrays = {"log_p": np.zeros((B, T))}
        if "alpha" in step.outputs:
            forced["alpha"] = np.zeros((B, T, S), np.float32)
        state_RX, alpha_RS = source.pop("state"), np.zeros((B, S), np.float32)
        states_BXN = np.zeros((B, T + 2, N), np.float32)
        states_BXN[:, 0] = state_RX[:, :N]
        before_B = np.full(B, NO_WORD)
        for i in range(T + states):  # in one order, s_T is the state of a further step
            R = max(2, int((lengths_B + states > i).sum()))
            row_R = np.arange(R)
            arrays = {**{name: array[:R] for name, array in source.items()}, "state": state_RX, "alpha_before": alpha_RS}
            arrays |= {"parents": row_R, "places": row_R, "grid": row_R[:, np.newaxis], "words": before_B[:R]}
            arrays |= {"read": self._backend.words(before_B[:R]), "count": np.array([1])}
            arrays["given"] = y_BT[:R, min(i, T - 1)]
            found = step(arrays)
            state_RX, alpha_RS = found["next_state"], found.get("alpha", alpha_RS)
            states_BXN[:R, i + 1] = state_RX[:, :N]
            before_B = arrays["given"]
            if i < T:
                names = ("given_logits", "best_logits", "highest_p")
                given_R, best_R, highest_p_R = (found[name][:, 0].astype(np.float64) for name in names)
                forced["log_p"][:R, i] = given_R - best_R + np.log(highest_p_R)
                if "alpha" in forced:
                    forced["alpha"][:R, i] = alpha_RS
        if states:
            generates_first = self._config.decoder_order == "look-generate-update"
            forced["states"] = states_BXN[:, 1:] if generates_first else states_BXN[:, :-1]
        back_B = np.argsort(order_B)
        return {name: array[back_B] for name, array in forced.items()}
