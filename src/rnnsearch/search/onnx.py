"""Search on a CPU, with the graphs of a model in ONNX Runtime.

The letters of array names are those of `rnnsearch.model`; the R rows are the hypotheses of Q sentences, adjacent for each
sentence. A row has the same bits whatever the other rows are: the terms of its sums have the same order in matrices of two
rows and more, and sums over positions have zeros past the end of a sentence.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.engine import POSITIONS, Arrays, Runnable, signed_products_are_exact
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import step, word_rows
from rnnsearch.graphs.weights import Weights
from rnnsearch.search.backend import Integers, Prediction, VocabularySelection

NO_WORD = -1
"""The word before the first one."""
BLOCK = 128
"""With vocabulary selection, there are places for a multiple of so many words: a sum that takes so many at a time, or a
fraction of them, does not depend on the words of other sentences."""
FEW_ROWS = 40
"""So many hypotheses always have room: with fewer, too much time goes into reading weights."""
NUMBERS = 600_000
"""A step writes and reads again matrices of so many numbers: 2.4 MB stay in the cache of a core."""
KEPT_NUMBERS = 3_000_000
"""What a step reads of words is kept up to so many numbers, 12 MB."""
_PER_POSITION = ("keys", "values")
Predicted = Literal["best", "whole", "given"]
"""What a step predicts: the best words, also log p of all words, or also given words."""


class OnnxBackend:
    """A model's graphs, in float32 or int8, with its weights. See `Backend`."""

    def __init__(
        self,
        config: ModelConfig,
        weights: Weights,
        precision: Precision = "fp32",
        selection: VocabularySelection | None = None,
    ) -> None:
        self.selection = selection
        self.vocabulary_size = weights.shape("readout.b_w")[0]
        self._config, self._weights, self._precision = config, weights, precision
        self._signed = precision == "int8" and signed_products_are_exact()
        self._encoder = Runnable(encoder(config, weights, precision, self._signed, for_search=True))
        self.words = WordRows(config, weights, precision, self._signed)
        self._steps: dict[Predicted, Runnable] = {}

    def encode(self, words_BS: Integers, lengths_B: Integers) -> Arrays:
        """What `rnnsearch.graphs.encoder` returns for these sentences."""
        x_BSE = self._weights.embeddings("encoder.E", words_BS)
        return self._encoder({"x": x_BSE, "lengths": lengths_B})

    def step(self, predicted: Predicted) -> Runnable:
        """The graph of a step; made when it is first needed."""
        if predicted not in self._steps:
            how = {"selects": self.selection is not None, "whole": predicted == "whole", "given": predicted == "given"}
            graph = step(self._config, self._weights, self._precision, self._signed, for_search=True, **how)
            self._steps[predicted] = Runnable(graph)
        return self._steps[predicted]

    def allowed(self, source: list[int]) -> list[int]:
        """The words that a translation of this source may use, with vocabulary selection."""
        assert self.selection is not None
        return [*range(min(self.selection.frequent, self.vocabulary_size)), *self.selection.candidates(source)]

    def session(self) -> OnnxSession:
        return OnnxSession(self)

    def has_room(self, rows: int, positions: int) -> bool:
        of_a_row = max(self.vocabulary_size, positions * self._config.alignment_size)
        return rows <= FEW_ROWS or rows * of_a_row <= NUMBERS


class WordRows:
    """What a step reads of the word before: rows that are computed when a word occurs, and kept for when it occurs again."""

    def __init__(self, config: ModelConfig, weights: Weights, precision: Precision, signed: bool) -> None:
        graph = word_rows(config, weights, precision, signed)
        _, (_, width) = graph.outputs["read"]
        self._weights, self._compute = weights, Runnable(graph)
        words = weights.shape("decoder.E")[0] + 1
        self._kept_XY = np.empty((min(words, KEPT_NUMBERS // int(width)), int(width)), np.float32)
        self._place_V = np.full(words, -1)
        """Where the row of a word is kept; the last one is that of no word."""
        self._count = 0
        self._lock = Lock()

    def __call__(self, words_R: Integers) -> NDArray[np.float32]:
        """The rows (R, Y) of these words. When there is no more room for others, all that are kept are forgotten."""
        with self._lock:
            place_R = self._place_V[words_R]
            if place_R.min() < 0:
                self._add(_distinct(words_R[place_R < 0]), words_R)
                place_R = self._place_V[words_R]
            return self._kept_XY[place_R]

    def _add(self, missing: Integers, words_R: Integers) -> None:
        if self._count + len(missing) > len(self._kept_XY):
            missing, self._count = _distinct(words_R), 0
            self._place_V[:] = -1
            if len(missing) > len(self._kept_XY):
                self._kept_XY = np.empty((len(missing), self._kept_XY.shape[1]), np.float32)
        end = self._count + len(missing)
        # A matrix of one row is multiplied in another order.
        y_RE = self._weights.embeddings("decoder.E", np.resize(missing, max(2, len(missing))))
        computed = self._compute({"y": y_RE})["read"]
        self._kept_XY[self._count : end] = computed[: len(missing)]
        self._place_V[missing] = np.arange(self._count, end)
        self._count = end


def _distinct(words_R: Integers) -> Integers:
    """The words, each once; `numpy.unique` would import NumPy's masked arrays."""
    return np.flatnonzero(np.bincount(words_R - NO_WORD)) + NO_WORD


class OnnxSession:
    """See `SearchSession`."""

    def __init__(self, backend: OnnxBackend) -> None:
        self._backend = backend
        self._waiting: list[_Sentence] = []
        self._first_state_BX: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._sentences: list[_Sentence] = []
        self._source: Arrays | None = None
        """The inputs of a step that are of the sentences; None where these have changed since."""
        self._sentence_R = np.empty(0, np.int64)
        """The sentence of each row: its place in `_sentences`."""
        self._state_XX: NDArray[np.float32] = np.empty((0, 0), np.float32)
        """The states of the rows before, followed by those of new sentences."""
        self._ids_QX: Integers = np.empty((0, 0), np.int64)
        """With vocabulary selection, the words that each sentence may use."""
        self._alpha_XS: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._parents_R, self._words_R = np.empty(0, np.int64), np.empty(0, np.int64)

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        B, S = len(x_BS), -(-int(lengths_B.max()) // POSITIONS) * POSITIONS
        x_BS = x_BS[:, : int(lengths_B.max())]
        words_BS = np.pad(x_BS, ((0, B == 1), (0, S - x_BS.shape[1])))
        found = self._backend.encode(words_BS, np.resize(lengths_B, len(words_BS)))
        found = {name: found[name] for name in (*_PER_POSITION, "state") if name in found}
        self._first_state_BX = found.pop("state")[:B]
        selection = self._backend.selection
        self._waiting = [
            _Sentence(
                int(length),
                {name: array[b, : -(-length // POSITIONS) * POSITIONS] for name, array in found.items()},
                [] if selection is None else self._backend.allowed(x_S[: length - 1].tolist()),
            )
            for b, (x_S, length) in enumerate(zip(x_BS, lengths_B, strict=True))
        ]

    def add(self, sentences_b: Integers) -> None:
        state_bX = self._first_state_BX[sentences_b]
        first_row = len(self._state_XX)
        self._state_XX = np.concatenate([self._state_XX, state_bX]) if first_row else state_bX
        rows_b, first = np.arange(len(sentences_b)), len(self._sentences)
        self._sentence_R = np.concatenate([self._sentence_R, first + rows_b])
        self._parents_R = np.concatenate([self._parents_R, first_row + rows_b])
        self._words_R = np.concatenate([self._words_R, np.full(len(rows_b), NO_WORD)])
        self._sentences += [self._waiting[b] for b in sentences_b.tolist()]
        self._source = None

    def predict(self, count: int, whole: bool = False) -> Prediction:
        R, step = len(self._words_R), self._backend.step("whole" if whole else "best")
        if self._source is None:
            self._source = _side_by_side(self._sentences)
            if self._backend.selection is not None:
                selected, self._ids_QX = _selected([sentence.words for sentence in self._sentences])
                self._source |= selected
        ids_RX = self._ids_QX[self._sentence_R] if self._backend.selection is not None else None
        available = min(count, self._backend.vocabulary_size if ids_RX is None else ids_RX.shape[1])
        arrays = {**self._source, **_layout(self._sentence_R, len(self._sentences))}
        arrays |= {"state": self._state_XX, "parents": self._parents_R, "words": self._words_R}
        arrays["read"] = self._backend.words(self._words_R)
        arrays["count"] = np.array([available], np.int64)
        if "alpha_before" in step.inputs:
            arrays["alpha_before"] = _resized(self._alpha_XS, len(self._state_XX), self._source["values"].shape[1])
        if R == 1:  # a matrix of one row is multiplied in another order
            arrays |= {name: np.repeat(arrays[name], 2, axis=0) for name in ("parents", "words", "read")}
            arrays |= {"places": np.array([0, 1]), "grid": np.array([[0, 1]])}
        found = {name: array[:R] for name, array in step(arrays).items()}
        self._next_RX, alpha_RS = found["next_state"], found.get("alpha")
        self._alpha_XS = self._alpha_XS if alpha_RS is None else alpha_RS
        logits_RW, p_R1 = (found[name].astype(np.float64) for name in ("best_logits", "highest_p"))
        log_p_RW = logits_RW - logits_RW[:, :1] + np.log(p_R1)
        log_p_RV = found["log_p"][:, : self._backend.vocabulary_size] if whole else None
        words_RW = found["best"] if ids_RX is None else np.take_along_axis(ids_RX, found["best"], 1)
        return Prediction(words_RW, log_p_RW, alpha_RS, log_p_RV, ids_RX)

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        self._state_XX, self._parents_R, self._words_R = self._next_RX, parents_r, words_r
        sentence_R = self._sentence_R[parents_r]
        is_live_Q = np.zeros(len(self._sentences), np.bool_)
        is_live_Q[sentence_R] = True
        if not is_live_Q.all():
            self._sentences = [self._sentences[q] for q in np.flatnonzero(is_live_Q).tolist()]
            sentence_R = (np.cumsum(is_live_Q) - 1)[sentence_R]
            self._source = None
        self._sentence_R = sentence_R


class _Sentence:
    """What a step reads of a sentence."""

    def __init__(self, length: int, arrays: Arrays, words: list[int]) -> None:
        """`arrays` are its keys and values, by position; RNNencdec has one position. `words` are those that it may use."""
        self.length, self.arrays, self.words = length, arrays, words


def _side_by_side(sentences: list[_Sentence]) -> Arrays:
    """The inputs of a step that are of the sentences, padded to the longest one."""
    arrays: Arrays = {"lengths": np.array([sentence.length for sentence in sentences])}
    for name in sentences[0].arrays:
        parts = [sentence.arrays[name] for sentence in sentences]
        whole = np.zeros((len(parts), max(map(len, parts)), parts[0].shape[1]), np.float32)
        for row, part in zip(whole, parts, strict=True):
            row[: len(part)] = part
        arrays[name] = whole
    return arrays


def _selected(words: list[list[int]]) -> tuple[Arrays, Integers]:
    """The inputs of a step that are of the words that each sentence may use, and the ids of these (Q, X)."""
    columns = np.flatnonzero(np.bincount(np.concatenate(words)))
    own_QX = np.full((len(words), -(-max(map(len, words)) // BLOCK) * BLOCK), -1)
    ids_QX = np.zeros_like(own_QX)
    for own_X, ids_X, ids in zip(own_QX, ids_QX, words, strict=True):
        own_X[: len(ids)], ids_X[: len(ids)] = np.searchsorted(columns, ids), ids
    return {"columns": columns, "own": own_QX}, ids_QX


def _layout(sentence_R: Integers, sentences: int) -> Arrays:
    """Which hypothesis is whose; see `rnnsearch.graphs.hypotheses.Ragged`. There are at least two for each sentence."""
    counts_Q = np.bincount(sentence_R, minlength=sentences)
    first_Q, K = np.cumsum(counts_Q) - counts_Q, max(2, int(counts_Q.max()))
    grid_QK = first_Q[:, np.newaxis] + np.minimum(np.arange(K), counts_Q[:, np.newaxis] - 1)
    return {"grid": grid_QK, "places": sentence_R * K + np.arange(len(sentence_R)) - first_Q[sentence_R]}


def _resized(array_RS: NDArray[Any], rows: int, positions: int) -> NDArray[Any]:
    """An array with so many rows and positions: zeros where there was nothing."""
    array_RS = array_RS[:, :positions]
    return np.pad(array_RS, ((0, rows - len(array_RS)), (0, positions - array_RS.shape[1])))
