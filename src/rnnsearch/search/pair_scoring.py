"""The scoring of given translations: log p of their words, the alignment, and the links of the alignment layer.

No search takes place: the words of the translation are forced, step by step, through the graph of a step of search (teacher
forcing). The results of a pair do not depend on the other pairs of its minibatch, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.data.batches import Batch
from rnnsearch.graphs.alignment_layer import alignment_layer
from rnnsearch.graphs.engine import POSITIONS, Runnable
from rnnsearch.graphs.weights import Arrays, Weights
from rnnsearch.search.backend import Integers
from rnnsearch.search.onnx import NO_WORD, OnnxBackend


@dataclass
class PairScores:
    """The results of a model for the pairs of a minibatch; values at padding are undefined."""

    log_p_BT: NDArray[np.float64]
    """log p of each target word (in nats), the end symbol included, conditional on the words before it."""
    alpha_BTS: NDArray[np.float32] | None
    """α of each target word; None without an alignment model."""
    links_BTS: NDArray[np.float32] | None = None
    """The probability that two words are linked; None unless links were requested and the model has an alignment layer."""


class PairScorer(Protocol):
    """A model that scores given sentence pairs. `PlainPairScorer` is the reference implementation."""

    def __call__(self, batch: Batch, links: bool = False) -> PairScores:
        """Score the pairs of a minibatch; with `links`, also compute the link probabilities of their words."""
        ...


class OnnxPairScorer:
    """The scoring of pairs by the graphs of a model, in float32. See `PairScorer`."""

    def __init__(self, config: ModelConfig, weights: Weights, layer: Weights | None = None) -> None:
        """Load the graphs of a model; `layer` holds the weights of its alignment layer, if it has one."""
        self._config, self._backend = config, OnnxBackend(config, weights)
        self._layer = None if layer is None else Runnable(alignment_layer(config, weights, layer))

    def __call__(self, batch: Batch, links: bool = False) -> PairScores:
        """See `PairScorer`."""
        B, (T, S) = len(batch.source_BS), (batch.target_BT.shape[1], batch.source_BS.shape[1])
        # Matrix products sum in another order for a single row, so there are at least two rows. Sources are padded to a
        # multiple of 8 positions, because some products sum over so many positions at a time.
        rows = np.resize(np.arange(B), max(2, B))
        x_BS = np.pad(batch.source_BS, ((0, 0), (0, -S % POSITIONS)))[rows]
        lengths_B, y_BT = batch.source_lengths_B[rows], batch.target_BT[rows]
        # Encode the sources, and force the words of the translations through the decoder.
        layer = self._layer if links else None
        source = self._backend.encode(x_BS, lengths_B)
        source["lengths"] = lengths_B
        forced = self._forced(source, y_BT, batch.target_lengths_B[rows], states=layer is not None)
        scores = PairScores(forced["log_p"][:B], forced["alpha"][:B, :, :S] if "alpha" in forced else None)
        if layer is not None:
            # The alignment layer reads the annotations, the states, the attention and the words of both sentences.
            forced |= {"words": x_BS, "target_words": y_BT, "target_lengths": batch.target_lengths_B[rows]}
            found = layer({**source, **forced}, ["probabilities"])
            scores.links_BTS = found["probabilities"][:B, :T, :S]
        return scores

    def _forced(self, source: Arrays, y_BT: Integers, lengths_B: Integers, states: bool) -> Arrays:
        """Return `log_p` (B, T) and `alpha` (B, T, S) of these words, and with `states` also s_0 … s_T (B, T + 1, N)."""
        (B, T), step = y_BT.shape, self._backend.step("given")
        # The longest translations come first, so that the unfinished pairs of every step are the first ones.
        order_B = np.argsort(-lengths_B, kind="stable")
        source = {name: array[order_B] for name, array in source.items()}
        y_BT, lengths_B = y_BT[order_B], lengths_B[order_B]
        S, N = source["values"].shape[1], self._config.hidden_size
        forced: Arrays = {"log_p": np.zeros((B, T))}
        if "alpha" in step.outputs:
            forced["alpha"] = np.zeros((B, T, S), np.float32)
        state_RX, alpha_RS = source.pop("state"), np.zeros((B, S), np.float32)
        # X counts the initial state, the T steps, and one further step.
        states_BXN = np.zeros((B, T + 2, N), np.float32)
        states_BXN[:, 0] = state_RX[:, :N]
        before_B = np.full(B, NO_WORD)
        # If a word is predicted before the state update, s_T is the state of one further step.
        for i in range(T + states):
            # The R pairs that are not finished; each is a sentence with a single hypothesis, which continues itself.
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
                # log p of a word = its logit − the best logit + log p of the best word.
                names = ("given_logits", "best_logits", "highest_p")
                given_R, best_R, highest_p_R = (found[name][:, 0].astype(np.float64) for name in names)
                forced["log_p"][:R, i] = given_R - best_R + np.log(highest_p_R)
                if "alpha" in forced:
                    forced["alpha"][:R, i] = alpha_RS
        # The step that predicts y_i returns s_{i−1} if words are predicted before the state update, and s_i otherwise.
        if states:
            generates_first = self._config.decoder_order == "look-generate-update"
            forced["states"] = states_BXN[:, 1:] if generates_first else states_BXN[:, :-1]
        # Restore the original order of the pairs.
        back_B = np.argsort(order_B)
        return {name: array[back_B] for name, array in forced.items()}
