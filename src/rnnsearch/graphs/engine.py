"""The graphs of a model in ONNX Runtime, as functions of NumPy arrays."""

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
from rnnsearch.graphs.weights import Weights

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Arrays = dict[str, NDArray[Any]]

POSITIONS = 8
"""Sources are padded to a multiple of this number of positions: some products add so many terms at a time."""


class Runnable:
    """A graph that ONNX Runtime has loaded."""

    def __init__(self, graph: Graph, threads: int = 1) -> None:
        """The graph loses its constants to the runtime, and cannot be used again."""
        file, constants = graph.hand_over()
        _give_back()
        self._session = session(file, threads, constants)
        del constants
        _give_back()
        self.inputs = [one.name for one in self._session.get_inputs()]
        self.outputs = [one.name for one in self._session.get_outputs()]

    def __call__(self, arrays: Mapping[str, NDArray[Any]], outputs: Sequence[str] = ()) -> Arrays:
        """The outputs of these names, or all, for the inputs among `arrays`."""
        names = list(outputs) or self.outputs
        found = self._session.run(names, {name: arrays[name] for name in self.inputs})
        return dict(zip(names, found, strict=True))


def session(file: bytes, threads: int = 1, constants: Mapping[str, NDArray[Any]] | None = None) -> InferenceSession:
    """A session of ONNX Runtime on the CPU; `constants` are those that the file does not contain.

    The runtime copies them, packs matrices for its products, and keeps nothing else of these. It is told to report nothing to
    its makers, and to keep no identity.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # 0.1 s, which commands that do not translate need not wait for

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # it is for inputs of few different shapes
    # The int8 matrices of an encoder become float32 once, and not in every call.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    if constants:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in constants.values()]
        options.add_external_initializers(list(constants), values)
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _give_back() -> None:
    """Give memory that was needed for a moment back to the system, where the C library would keep it (glibc)."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


class Engine:
    """A trained model that runs in ONNX Runtime: `encode` sentences, then `step` after step.

    The arrays are those of `graphs.encoder` and `graphs.step`, by their names.
    """

    def __init__(self, config: ModelConfig, weights: Weights, precision: Precision = "fp32", threads: int = 1) -> None:
        """Build both graphs and load them."""
        signed = precision == "int8" and signed_products_are_exact()
        self._encoder = Runnable(encoder(config, weights, precision, signed), threads)
        self._step = Runnable(step(config, weights, precision, signed), threads)

    def encode(self, words_BS: NDArray[np.int64], lengths_B: NDArray[np.int64]) -> Arrays:
        """`annotations`, `keys`, `values`, `lengths` and the first `state` of sentences, and the first `alpha_before`."""
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
        """Extend hypotheses by words and predict the next ones: these outputs, and the next `state` and `alpha_before`.

        `source` and the first `state` are what `encode` has returned; any later `state` is what this method has.
        """
        (Q, K), aligns = parents_QK.shape, "alpha" in self._step.outputs
        arrays = {**source, "state": state["state"], "parents": parents_QK, "words": words_QK}
        if "alpha_before" in self._step.inputs:
            arrays["alpha_before"] = state["alpha_before"]
        if Q * K == 1:  # a matrix of one row is multiplied in another order
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
    """Whether products of unsigned activations and signed weights are exact here: on AVX2 without VNNI, they saturate."""
    graph = Graph("probe")
    q = graph.input("q", "uint8", "rows", 64)
    w = graph.constant(np.full((64, 64), 127, np.int8))
    graph.output("sum", graph.apply("MatMulInteger", q, w), "int32", "rows", 64)
    found = Runnable(graph)({"q": np.full((4, 64), 255, np.uint8)})["sum"]
    return bool((found == 64 * 255 * 127).all())
