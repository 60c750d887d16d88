"""The backend of search for a CPU, which runs the graphs of a model in ONNX Runtime.

The letters of array names are those of `rnnsearch.model`; the R rows are the hypotheses of Q sentences, adjacent for each
sentence. The results of a row do not depend on the other rows, to the last bit: matrix products of two or more rows sum in
the same order, and sums over positions have zeros past the end of a sentence.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.engine import POSITIONS, Runnable, signed_products_are_exact
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import step, word_rows
from rnnsearch.graphs.weights import Arrays, Weights
from rnnsearch.search.backend import Integers, Prediction, VocabularySelection

NO_WORD = -1
"""The id that stands for the word before the first one."""
BLOCK = 128
"""With vocabulary selection, the words of each sentence are padded to a multiple of this number. A sum that takes 128 terms
at a time, or a fraction of them, then does not depend on the words of other sentences."""
FEW_ROWS = 40
"""The number of hypotheses that always have room: with fewer, reading the weights would take most of the time."""
NUMBERS = 600_000
"""The largest size of the matrices that a step writes and reads again: these 2.4 MB fit into the cache of a core."""
KEPT_NUMBERS = 1_000_000
"""The largest number of projections of words that are kept for later steps, 4 MB."""
_PER_POSITION = ("keys", "values")
Predicted = Literal["best", "whole", "given"]
"""The outputs of a step: the best words; these and log p of all words; or these and the logits of given words."""


class OnnxBackend:
    """A backend that runs the graphs of a model, in float32 or int8. See `Backend`."""

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
        """Return the outputs of `rnnsearch.graphs.encoder` for word ids (B, S) and lengths (B)."""
        x_BSE = self._weights.embeddings("encoder.E", words_BS)
        return self._encoder({"x": x_BSE, "lengths": lengths_B})

    def step(self, predicted: Predicted) -> Runnable:
        """Return the graph of a step with these outputs; it is built when it is first needed."""
        if predicted not in self._steps:
            how = {"selects": self.selection is not None, "whole": predicted == "whole", "given": predicted == "given"}
            graph = step(self._config, self._weights, self._precision, self._signed, for_search=True, **how)
            self._steps[predicted] = Runnable(graph)
        return self._steps[predicted]

    def allowed(self, source: list[int]) -> list[int]:
        """Return the ids of the words that a translation of this source may use, with vocabulary selection."""
        assert self.selection is not None
        return [*range(min(self.selection.frequent, self.vocabulary_size)), *self.selection.candidates(source)]

    def session(self) -> OnnxSession:
        return OnnxSession(self)

    def has_room(self, rows: int, positions: int) -> bool:
        # The largest matrix of a step has the logits, or the terms of the energies, of every hypothesis.
        of_a_row = max(self.vocabulary_size, positions * self._config.alignment_size)
        return rows <= FEW_ROWS or rows * of_a_row <= NUMBERS


class WordRows:
    """The projections [W; V_o] E y + [b; b_o] of words, which a step reads of the previous word.

    The projections of a word are computed when it first occurs, and kept for its next occurrences.
    """

    def __init__(self, config: ModelConfig, weights: Weights, precision: Precision, signed: bool) -> None:
        graph = word_rows(config, weights, precision, signed)
        _, (_, width) = graph.outputs["read"]
        self._weights, self._compute = weights, Runnable(graph)
        words = weights.shape("decoder.E")[0] + 1
        self._kept_XY = np.empty((min(words, KEPT_NUMBERS // int(width)), int(width)), np.float32)
        self._place_V = np.full(words, -1)
        """The place of each word's projections among the kept ones, or −1; the last element is that of `NO_WORD`."""
        self._count = 0
        self._lock = Lock()

    def __call__(self, words_R: Integers) -> NDArray[np.float32]:
        """Return the projections (R, Y) of these words. If there is no room for new ones, all kept ones are dropped."""
        # Several searches share this object, each in its own thread.
        with self._lock:
            place_R = self._place_V[words_R]
            if place_R.min() < 0:
                self._add(_distinct(words_R[place_R < 0]), words_R)
                place_R = self._place_V[words_R]
            read_RY: NDArray[np.float32] = self._kept_XY[place_R]
            return read_RY

    def _add(self, missing: Integers, words_R: Integers) -> None:
        """Compute and keep the projections of the words that are `missing` among `words`."""
        # If there is no room, drop all kept projections; the words of this call then need projections again.
        if self._count + len(missing) > len(self._kept_XY):
            missing, self._count = _distinct(words_R), 0
            self._place_V[:] = -1
            if len(missing) > len(self._kept_XY):
                self._kept_XY = np.empty((len(missing), self._kept_XY.shape[1]), np.float32)
        end = self._count + len(missing)
        # Products of a single row would sum in another order, so there are at least two rows.
        y_RE = self._weights.embeddings("decoder.E", np.resize(missing, max(2, len(missing))))
        computed = self._compute({"y": y_RE})["read"]
        self._kept_XY[self._count : end] = computed[: len(missing)]
        self._place_V[missing] = np.arange(self._count, end)
        self._count = end


def _distinct(words_R: Integers) -> Integers:
    """Return the distinct words in ascending order. (`numpy.unique` would import NumPy's masked arrays.)"""
    return np.flatnonzero(np.bincount(words_R - NO_WORD)) + NO_WORD


class OnnxSession:
    """The state of a search that runs the graphs of a model. See `SearchSession`."""

    def __init__(self, backend: OnnxBackend) -> None:
        self._backend = backend
        # The sentences of the last `encode`, and their initial states; then the sentences that have hypotheses.
        self._waiting: list[_Sentence] = []
        self._first_state_BX: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._sentences: list[_Sentence] = []
        self._source: Arrays | None = None
        """The inputs of a step that depend on the sentences; None if the sentences have changed since the last step."""
        self._sentence_R = np.empty(0, np.int64)
        """The index in `_sentences` of the sentence of each row."""
        self._state_XX: NDArray[np.float32] = np.empty((0, 0), np.float32)
        """The states of the rows of the last step, followed by those of new sentences."""
        self._ids_QX: Integers = np.empty((0, 0), np.int64)
        """With vocabulary selection, the word ids that each sentence may use, with padding."""
        self._alpha_XS: NDArray[np.float32] = np.empty((0, 0), np.float32)
        """α of the rows of the last step, the input of location-sensitive attention."""
        # The row of `_state_XX` that each present row continues, and the word by which it does so.
        self._parents_R, self._words_R = np.empty(0, np.int64), np.empty(0, np.int64)

    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        # Pad to a multiple of POSITIONS, and to at least two sentences, so that all sums keep their order.
        B, S = len(x_BS), -(-int(lengths_B.max()) // POSITIONS) * POSITIONS
        x_BS = x_BS[:, : int(lengths_B.max())]
        words_BS = np.pad(x_BS, ((0, B == 1), (0, S - x_BS.shape[1])))
        found = self._backend.encode(words_BS, np.resize(lengths_B, len(words_BS)))
        found = {name: found[name] for name in (*_PER_POSITION, "state") if name in found}
        self._first_state_BX = found.pop("state")[:B]
        # Keep the keys and values of each sentence without the padding that only longer sentences need.
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
        # Each sentence appends its initial state, which its first row continues without a word.
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
        # The inputs that depend on the sentences alone stay the same until a sentence is added or finished.
        if self._source is None:
            self._source = _side_by_side(self._sentences)
            if self._backend.selection is not None:
                selected, self._ids_QX = _selected([sentence.words for sentence in self._sentences])
                self._source |= selected
        # The inputs that depend on the hypotheses.
        ids_RX = self._ids_QX[self._sentence_R] if self._backend.selection is not None else None
        available = min(count, self._backend.vocabulary_size if ids_RX is None else ids_RX.shape[1])
        arrays = {**self._source, **_layout(self._sentence_R, len(self._sentences))}
        arrays |= {"state": self._state_XX, "parents": self._parents_R, "words": self._words_R}
        arrays["read"] = self._backend.words(self._words_R)
        arrays["count"] = np.array([available], np.int64)
        if "alpha_before" in step.inputs:
            arrays["alpha_before"] = _resized(self._alpha_XS, len(self._state_XX), self._source["values"].shape[1])
        # Products of a single row would sum in another order, so a single hypothesis is computed twice.
        if R == 1:
            arrays |= {name: np.repeat(arrays[name], 2, axis=0) for name in ("parents", "words", "read")}
            arrays |= {"places": np.array([0, 1]), "grid": np.array([[0, 1]])}
        found = {name: array[:R] for name, array in step(arrays).items()}
        self._next_RX, alpha_RS = found["next_state"], found.get("alpha")
        self._alpha_XS = self._alpha_XS if alpha_RS is None else alpha_RS
        # log p of a word = its logit − the best logit + log p of the best word.
        logits_RW, p_R1 = (found[name].astype(np.float64) for name in ("best_logits", "highest_p"))
        log_p_RW = logits_RW - logits_RW[:, :1] + np.log(p_R1)
        log_p_RV = found["log_p"][:, : self._backend.vocabulary_size] if whole else None
        words_RW = found["best"] if ids_RX is None else np.take_along_axis(ids_RX, found["best"], 1)
        return Prediction(words_RW, log_p_RW, alpha_RS, log_p_RV, ids_RX)

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        self._state_XX, self._parents_R, self._words_R = self._next_RX, parents_r, words_r
        sentence_R = self._sentence_R[parents_r]
        # A sentence without a row is finished; the others are renumbered.
        is_live_Q = np.zeros(len(self._sentences), np.bool_)
        is_live_Q[sentence_R] = True
        if not is_live_Q.all():
            self._sentences = [self._sentences[q] for q in np.flatnonzero(is_live_Q).tolist()]
            sentence_R = (np.cumsum(is_live_Q) - 1)[sentence_R]
            self._source = None
        self._sentence_R = sentence_R


class _Sentence:
    """The inputs of a step that depend on a source sentence."""

    def __init__(self, length: int, arrays: Arrays, words: list[int]) -> None:
        """Take the keys and values by position (RNNencdec has one position), and the ids of the selected words.

        `length` is the number of source positions, including the end symbol.
        """
        self.length, self.arrays, self.words = length, arrays, words


def _side_by_side(sentences: list[_Sentence]) -> Arrays:
    """Return the inputs of a step that depend on the sentences, padded with zeros to the longest sentence."""
    # The keys (Q, S, A) and values (Q, S, Y) of all sentences.
    arrays: Arrays = {"lengths": np.array([sentence.length for sentence in sentences])}
    for name in sentences[0].arrays:
        parts = [sentence.arrays[name] for sentence in sentences]
        whole = np.zeros((len(parts), max(map(len, parts)), parts[0].shape[1]), np.float32)
        for row, part in zip(whole, parts, strict=True):
            row[: len(part)] = part
        arrays[name] = whole
    return arrays


def _selected(words: list[list[int]]) -> tuple[Arrays, Integers]:
    """Return the inputs of a step for vocabulary selection, and the ids (Q, X) of the words that each sentence may use.

    The inputs are `columns`, the ids of the words of all sentences, and `own` (Q, X), the columns of each sentence's own
    words, followed by −1.
    """
    # The union of all words in ascending order; then each sentence's words as places in the union, padded to a multiple of
    # BLOCK.
    columns = np.flatnonzero(np.bincount(np.concatenate(words)))
    own_QX = np.full((len(words), -(-max(map(len, words)) // BLOCK) * BLOCK), -1)
    ids_QX = np.zeros_like(own_QX)
    for own_X, ids_X, ids in zip(own_QX, ids_QX, words, strict=True):
        own_X[: len(ids)], ids_X[: len(ids)] = np.searchsorted(columns, ids), ids
    return {"columns": columns, "own": own_QX}, ids_QX


def _layout(sentence_R: Integers, sentences: int) -> Arrays:
    """Return the inputs that assign hypotheses to sentences, from the sentence of each row; see `graphs.hypotheses.Ragged`.

    The grid (Q, K) has at least two hypotheses per sentence.
    """
    # Element k of a sentence with n hypotheses is its hypothesis min(k, n − 1): the last one fills the rest of the grid.
    counts_Q = np.bincount(sentence_R, minlength=sentences)
    first_Q, K = np.cumsum(counts_Q) - counts_Q, max(2, int(counts_Q.max()))
    grid_QK = first_Q[:, np.newaxis] + np.minimum(np.arange(K), counts_Q[:, np.newaxis] - 1)
    return {"grid": grid_QK, "places": sentence_R * K + np.arange(len(sentence_R)) - first_Q[sentence_R]}


def _resized(array_RS: NDArray[Any], rows: int, positions: int) -> NDArray[Any]:
    """Return an array (R, S) with this number of rows and positions, truncated or padded with zeros."""
    array_RS = array_RS[:, :positions]
    return np.pad(array_RS, ((0, rows - len(array_RS)), (0, positions - array_RS.shape[1])))
