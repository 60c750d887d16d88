"""The execution of graphs by ONNX Runtime, as functions of NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.graph import Graph
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import step
from rnnsearch.graphs.weights import Arrays, Weights

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


POSITIONS = 8
"""Sources are padded to a multiple of this number of positions, because some products sum this many terms at a time."""


class Runnable:
    """A graph that ONNX Runtime has loaded."""

    def __init__(self, graph: Graph, threads: int = 1) -> None:
        """Load a graph. Its constants are handed over to the runtime, so that the graph cannot be used again."""
        # Memory is returned to the system before and after the constants exist twice, so that the peak is low.
        file, constants = graph.hand_over()
        give_back_memory()
        self._session = session(file, threads, constants)
        del constants
        give_back_memory()
        self.inputs = [one.name for one in self._session.get_inputs()]
        self.outputs = [one.name for one in self._session.get_outputs()]

    def __call__(self, arrays: Mapping[str, NDArray[Any]], outputs: Sequence[str] = ()) -> Arrays:
        """Return the outputs with these names (default: all), computed from the inputs among `arrays`."""
        names = list(outputs) or self.outputs
        found = self._session.run(names, {name: arrays[name] for name in self.inputs})
        return dict(zip(names, found, strict=True))


def session(file: bytes, threads: int = 1, constants: Mapping[str, NDArray[Any]] | None = None) -> InferenceSession:
    """Return a session of ONNX Runtime on the CPU; `constants` are those that the file does not contain.

    The runtime copies the constants, and keeps matrices only in the layout of its products. Its telemetry is disabled.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # 0.1 s, which commands that do not translate need not wait for

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # memory patterns only help with inputs of few different shapes
    options.enable_cpu_mem_arena = False  # an arena keeps the memory of the largest batch, and was no faster
    # With this entry, the int8 matrices of an encoder are converted to float32 once, instead of in every call.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    if constants:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in constants.values()]
        options.add_external_initializers(list(constants), values)
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def give_back_memory() -> None:
    """Return free memory, which the C library would keep, to the system. It has an effect with glibc only."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


class Engine:
    """A trained model that runs in ONNX Runtime: call `encode` for sentences, and then `step` for each word.

    The arrays have the names and the shapes of the inputs and outputs of `graphs.encoder` and `graphs.step`.
    """

    def __init__(self, config: ModelConfig, weights: Weights, precision: Precision = "fp32", threads: int = 1) -> None:
        """Build both graphs and load them."""
        signed = precision == "int8" and signed_products_are_exact()
        self._encoder = Runnable(encoder(config, weights, precision, signed), threads)
        self._step = Runnable(step(config, weights, precision, signed), threads)

    def encode(self, words_BS: NDArray[np.int64], lengths_B: NDArray[np.int64]) -> Arrays:
        """Encode word ids (B, S) with lengths (B), which count the end symbol.

        Returns `annotations`, `keys`, `values` and `lengths` of the sentences, and their first `state` and `alpha_before`.
        """
        # Products of a single row would sum in another order, so there are at least two sentences.
        B, S = len(words_BS), -(-words_BS.shape[1] // POSITIONS) * POSITIONS
        words_BS = np.pad(words_BS, ((0, B == 1), (0, S - words_BS.shape[1])))
        arrays = {"words": words_BS, "lengths": np.resize(lengths_B, len(words_BS))}
        found = {name: array[:B] for name, array in self._encoder(arrays).items()}
        return {**found, "lengths": lengths_B, "alpha_before": np.zeros((B, S), np.float32)}

    def step(
        self,
        source: Arrays,
        state: Arrays,
        parents_QK: NDArray[np.int64],
        words_QK: NDArray[np.int64],
        count: int,
        outputs: Sequence[str] = ("best", "best_log_p"),
    ) -> Arrays:
        """Extend hypotheses by words, and return these outputs and the next `state` and `alpha_before`.

        `parents` (Q, K) are the rows of the state that the hypotheses continue, and `words` (Q, K) the words by which they
        do so; `count` is the number of best words. `source` and the first `state` are the result of `encode`; later states
        are results of this method.
        """
        (Q, K), aligns = parents_QK.shape, "alpha" in self._step.outputs
        arrays = {**source, "state": state["state"], "parents": parents_QK, "words": words_QK}
        if "alpha_before" in self._step.inputs:
            arrays["alpha_before"] = state["alpha_before"]
        # Products of a single row would sum in another order, so a single hypothesis is computed twice.
        if Q * K == 1:
            per_sentence = ("keys", "values", "lengths", "parents", "words")
            arrays |= {name: np.repeat(arrays[name], 2, axis=0) for name in per_sentence if name in arrays}
        arrays["count"] = np.array([count], np.int64)
        names = ["next_state", *(["alpha"] if aligns else []), *outputs]
        found = {name: array[: Q * K if name == "next_state" else Q] for name, array in self._step(arrays, names).items()}
        found["state"] = found.pop("next_state")
        if aligns:
            found["alpha_before"] = found["alpha"].reshape(Q * K, -1)
        return found


@cache
def signed_products_are_exact() -> bool:
    """Whether int8 products of unsigned activations and signed weights are exact on this CPU; with AVX2 but without VNNI,
    their sums saturate.
    """
    # The largest possible sum of 64 products shows whether any saturates.
    graph = Graph("probe")
    q = graph.input("q", "uint8", "rows", 64)
    w = graph.constant(np.full((64, 64), 127, np.int8))
    graph.output("sum", graph.apply("MatMulInteger", q, w), "int32", "rows", 64)
    found = Runnable(graph)({"q": np.full((4, 64), 255, np.uint8)})["sum"]
    return bool((found == 64 * 255 * 127).all())
