"""Search on a CPU, with the graphs of a model in ONNX Runtime.

The letters of array names are those of `rnnsearch.model`; the R rows are the hypotheses of Q sentences, adjacent for each
sentence. A row has the same bits whatever the other rows are: the terms of its sums have the same order in matrices of two
rows and more, and sums over positions have zeros past the end of a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.engine import POSITIONS, Arrays, Runnable, signed_products_are_exact
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import GROUP, step, word_table
from rnnsearch.graphs.weights import Weights
from rnnsearch.search.backend import Integers, Prediction, VocabularySelection

NO_WORD = -1
"""The word before the first one."""
FEW_ROWS = 40
"""So many hypotheses always have room: with fewer, too much time goes into reading weights."""
NUMBERS = 600_000
"""A step writes and reads again matrices of so many numbers: 2.4 MB stay in the cache of a core."""
_PER_POSITION = ("keys", "values")


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
        self.encoder = Runnable(encoder(config, weights, precision, self._signed).file())
        self.table = WordTable(config, weights, precision, self._signed)
        self._steps: dict[bool, Runnable] = {False: self._new_step(False)}

    def step(self, whole: bool) -> Runnable:
        """The graph of a step, which also returns log p of all words if `whole`: few searches need it."""
        if whole not in self._steps:
            self._steps[whole] = self._new_step(whole)
        return self._steps[whole]

    def _new_step(self, whole: bool) -> Runnable:
        how = {"for_search": True, "selects": self.selection is not None, "whole": whole}
        return Runnable(step(self._config, self._weights, self._precision, self._signed, **how).file())

    def session(self) -> OnnxSession:
        return OnnxSession(self)

    def has_room(self, rows: int, positions: int) -> bool:
        of_a_row = max(self.vocabulary_size, positions * self._config.alignment_size)
        return rows <= FEW_ROWS or rows * of_a_row <= NUMBERS


class WordTable:
    """What a step reads of each word before: rows that are computed when a word occurs for the first time."""

    def __init__(self, config: ModelConfig, weights: Weights, precision: Precision, signed: bool) -> None:
        graph = word_table(config, weights, precision, signed)
        _, (_, width) = graph.outputs["table"]
        self._rows = Runnable(graph.file())
        self._table_VY = np.zeros((weights.shape("decoder.E")[0] + 1, int(width)), np.float32)
        self._is_known_V = np.zeros(len(self._table_VY), np.bool_)

    def with_rows_of(self, words_R: Integers) -> NDArray[np.float32]:
        """The table, in which the rows of these words are right. What was never written in it takes no memory."""
        if not self._is_known_V[words_R].all():
            missing = np.flatnonzero(np.bincount(words_R[~self._is_known_V[words_R]] + 1)) + NO_WORD
            if len(missing):  # else another thread has written them
                self._table_VY[missing] = self._rows({"words": np.resize(missing, max(2, len(missing)))})["table"][
                    : len(missing)
                ]
                self._is_known_V[missing] = True
        return self._table_VY


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
        self._alpha_XS: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._parents_R, self._words_R = np.empty(0, np.int64), np.empty(0, np.int64)

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        B, S = len(x_BS), -(-int(lengths_B.max()) // POSITIONS) * POSITIONS
        x_BS = x_BS[:, : int(lengths_B.max())]
        words_BS = np.pad(x_BS, ((0, B == 1), (0, S - x_BS.shape[1])))
        names = [name for name in (*_PER_POSITION, "state") if name in self._backend.encoder.outputs]
        found = self._backend.encoder({"words": words_BS, "lengths": np.resize(lengths_B, len(words_BS))}, names)
        self._first_state_BX = found.pop("state")[:B]
        selection = self._backend.selection
        self._waiting = [
            _Sentence(
                int(length),
                {name: array[b, : -(-length // POSITIONS) * POSITIONS] for name, array in found.items()},
                [] if selection is None else selection.candidates(x_S[: length - 1].tolist()),
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
        R, step = len(self._words_R), self._backend.step(whole)
        if self._source is None:
            self._source = _side_by_side(self._sentences, self._backend)
        ids_C: Integers | None = self._source.get("columns")
        available = min(count, self._backend.vocabulary_size if ids_C is None else len(ids_C))
        arrays = {**self._source, **_layout(self._sentence_R, len(self._sentences))}
        arrays["table"] = self._backend.table.with_rows_of(self._words_R)
        arrays |= {"state": self._state_XX, "parents": self._parents_R, "words": self._words_R}
        arrays["count"] = np.array([available], np.int64)
        if "alpha_before" in step.inputs:
            arrays["alpha_before"] = _resized(self._alpha_XS, len(self._state_XX), self._source["values"].shape[1])
        if R == 1:  # a matrix of one row is multiplied in another order
            arrays |= {name: np.repeat(arrays[name], 2) for name in ("parents", "words")}
            arrays |= {"places": np.array([0, 1]), "grid": np.array([[0, 1]])}
        found = {name: array[:R] for name, array in step(arrays).items()}
        self._next_RX, alpha_RS = found["next_state"], found.get("alpha")
        self._alpha_XS = self._alpha_XS if alpha_RS is None else alpha_RS
        logits_RW, p_R1 = (found[name].astype(np.float64) for name in ("best_logits", "highest_p"))
        log_p_RW = logits_RW - logits_RW[:, :1] + np.log(p_R1)
        log_p_RV = found["log_p"][:, : self._backend.vocabulary_size] if whole else None
        return Prediction(found["best"] if ids_C is None else ids_C[found["best"]], log_p_RW, alpha_RS, log_p_RV, ids_C)

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

    def __init__(self, length: int, arrays: Arrays, candidates: list[int]) -> None:
        """`arrays` are its keys and values, by position; RNNencdec has one position."""
        self.length, self.arrays, self.candidates = length, arrays, candidates


def _side_by_side(sentences: list[_Sentence], backend: OnnxBackend) -> Arrays:
    """The inputs of a step that are of the sentences, padded to the longest one."""
    arrays: Arrays = {"lengths": np.array([sentence.length for sentence in sentences])}
    for name in sentences[0].arrays:
        parts = [sentence.arrays[name] for sentence in sentences]
        whole = np.zeros((len(parts), max(map(len, parts)), parts[0].shape[1]), np.float32)
        for row, part in zip(whole, parts, strict=True):
            row[: len(part)] = part
        arrays[name] = whole
    if backend.selection is not None:
        arrays |= _selected([sentence.candidates for sentence in sentences], backend.selection.frequent, backend)
    return arrays


def _selected(candidates: list[list[int]], frequent: int, backend: OnnxBackend) -> Arrays:
    """The ids of all words that any of the sentences may use, and which of them each may use."""
    frequent = min(frequent, backend.vocabulary_size)
    allowed_QV = np.zeros((len(candidates), backend.vocabulary_size), np.bool_)
    allowed_QV[:, :frequent] = True
    for allowed_V, words in zip(allowed_QV, candidates, strict=True):
        allowed_V[words] = True
    columns = np.flatnonzero(allowed_QV.any(0))
    more = -len(columns) % GROUP
    return {"columns": np.pad(columns, (0, more)), "allowed": np.pad(allowed_QV[:, columns], ((0, 0), (0, more)))}


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
