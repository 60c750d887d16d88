"""The building blocks of all parts of a model: affine maps, embeddings and layer normalisation, in float32 or int8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.graph import Graph, Tensor
from rnnsearch.graphs.weights import Floats, Weights

Precision = Literal["fp32", "int8"]

_ZERO = 128
"""The zero point of unsigned integers: the integer that represents 0."""
_INTEGER_PRODUCT = "com.microsoft.MatMulIntegerToFloat"
"""An operator that fuses the standard's `MatMulInteger`, `Cast` and `Mul`; every build of ONNX Runtime has it."""
_SMALLEST = float(np.finfo(np.float32).tiny)
_NORM_EPSILON = 1e-5


class Affine(NamedTuple):
    """An affine map W x + b: the names of its matrix and, if it has one, of its bias."""

    W: str
    b: str | None = None


class Network:
    """The construction of a graph from the settings and the weights of a model."""

    def __init__(
        self,
        name: str,
        config: ModelConfig,
        weights: Weights,
        precision: Precision = "fp32",
        signed: bool = False,
        for_file: bool = True,
    ) -> None:
        """Begin a graph. With the precision `int8`, matrices remain 8-bit integers in the graph, and sums are exact.

        Activations are unsigned integers. `signed` matrices use the CPU's instruction for such products, which saturates on
        CPUs with AVX2 but without VNNI; unsigned matrices are exact on every CPU. `for_file` tells whether the graph is
        written to a file.
        """
        self.graph = Graph(name)
        self.config, self.weights = config, weights
        self.precision = precision
        self._signed, self._for_file = signed, for_file

    def affine(self, x_RX: Tensor, *maps: Affine, multiple: int = 1) -> Tensor:
        """Return W x + b of all maps, concatenated, from (R, X) to (R, Y), by a single matrix product.

        Y is padded to a multiple of `multiple`; the padding has the value −∞.
        """
        # The biases of all maps; the padding has weights of zero and a bias of −∞.
        graph = self.graph
        b_Y = np.concatenate([self._bias(one) for one in maps])
        more = -len(b_Y) % multiple
        b_Y = np.pad(b_Y, (0, more), constant_values=-np.inf)
        b = graph.constant(b_Y) if more or any(one.b for one in maps) else None
        if self.precision == "fp32":
            return graph.apply("Gemm", x_RX, graph.constant(self._floats(maps, more)), b, transB=1)
        # With int8, the padding has the integer that represents zero, and the scale 0.
        w_YX, scale_Y = self._integers(maps)
        rest_YX = np.full((more, w_YX.shape[1]), self._zero_weight, w_YX.dtype)
        w_XY = graph.constant(np.concatenate([w_YX, rest_YX]).T)
        return self._integer_product(x_RX, w_XY, graph.constant(np.pad(scale_Y, (0, more))), b)

    def affine_rows(self, x_RX: Tensor, one: Affine, rows_Y: Tensor) -> Tensor:
        """Return W x + b (R, Y) for the Y rows of W and b with these numbers."""
        graph = self.graph
        # The selected rows of b and W, and with int8 also those of the scales.
        b_Y = graph.apply("Gather", graph.constant(self._bias(one)), rows_Y)
        if self.precision == "fp32":
            W_YX = graph.apply("Gather", graph.constant(self.weights[one.W]), rows_Y)
            return graph.apply("Gemm", x_RX, W_YX, b_Y, transB=1)
        whole, scales = self._integers([one])
        w_YX, scale_Y = (graph.apply("Gather", graph.constant(array), rows_Y) for array in (whole, scales))
        return self._integer_product(x_RX, graph.apply("Transpose", w_YX, perm=[1, 0]), scale_Y, b_Y)

    def affine_parts(self, x_RX: Tensor, *maps: Sequence[Affine]) -> list[Tensor]:
        """Do the same as `affine`, and split the result into those of each group of maps."""
        sizes = [sum(len(self._bias(one)) for one in group) for group in maps]
        return self.graph.split(self.affine(x_RX, *(one for group in maps for one in group)), sizes)

    def affine_of_positions(self, x_BSX: Tensor, *maps: Affine) -> Tensor:
        """Do the same as `affine`, from (B, S, X) to (B, S, Y)."""
        graph = self.graph
        # All positions of all sentences as rows of one matrix, and back.
        shape_2 = graph.apply("Shape", x_BSX, start=0, end=2)
        width = self.weights.shape(maps[0].W)[1]
        product = self.affine(graph.reshape(x_BSX, -1, width), *maps)
        return graph.apply("Reshape", product, graph.join([shape_2, graph.constant(np.array([-1], np.int64))]))

    def _bias(self, one: Affine) -> Floats:
        return self.weights[one.b] if one.b else np.zeros(self.weights.shape(one.W)[0], np.float32)

    @property
    def _zero_weight(self) -> int:
        """The integer that represents a weight of zero."""
        return 0 if self._signed else _ZERO

    def _floats(self, maps: Sequence[Affine], more: int) -> Floats:
        """Return the matrices, concatenated by rows, and `more` rows of zeros: (Y, X)."""
        shapes = [self.weights.shape(one.W) for one in maps]
        W_YX = np.zeros((sum(rows for rows, _ in shapes) + more, shapes[0][1]), np.float32)
        start = 0
        for one, (rows, _) in zip(maps, shapes, strict=True):
            W_YX[start : start + rows] = self.weights[one.W]
            start += rows
        return W_YX

    def _integers(self, maps: Sequence[Affine]) -> tuple[NDArray[np.int8] | NDArray[np.uint8], Floats]:
        """Return the matrices as integers, concatenated by rows (Y, X), and the scales of the rows (Y)."""
        parts = [self.weights.quantized(one.W) for one in maps]
        w_YX = np.concatenate([whole for whole, _ in parts])
        scale_Y = np.concatenate([scales for _, scales in parts])
        return (w_YX if self._signed else (w_YX.astype(np.int16) + _ZERO).astype(np.uint8)), scale_Y

    def _integer_product(self, x_RX: Tensor, w_XY: Tensor, scale_Y: Tensor, b_Y: Tensor | None) -> Tensor:
        """Return W x + b (R, Y) by an integer product: W x = s_x s_W ∘ (w q), with x ≈ s_x q and W = diag(s_W) w.

        w and q are integers. Each row of x has its own scale s_x = max |x| / 127, so that no row depends on the others.
        """
        # Quantise each row of x: q = round(x / s_x), stored as an unsigned integer with the zero point 128.
        graph = self.graph
        zero_q, zero_w = graph.constant(np.uint8(_ZERO)), None if self._signed else graph.constant(np.uint8(_ZERO))
        largest_R1 = graph.reduce("ReduceMax", graph.apply("Abs", x_RX), 1, keep=True)
        scale_R1 = graph.apply("Max", largest_R1, _SMALLEST) / 127.0
        q_RX = graph.cast(graph.apply("Round", x_RX / scale_R1) + float(_ZERO), "uint8")
        # The exact integer product, times s_W of each column and s_x of each row.
        one = graph.constant(np.float32(1))
        product_RY = graph.apply(_INTEGER_PRODUCT, q_RX, w_XY, one, scale_Y, zero_q, zero_w) * scale_R1
        return product_RY if b_Y is None else product_RY + b_Y

    def stored(self, names: Sequence[str], signs: Sequence[int], shape: Sequence[int]) -> Tensor:
        """Return matrices in the form that the operators for whole sequences read.

        They are concatenated by rows, each multiplied by its sign (1 or −1), and reshaped. With `int8`, a file stores them
        as integers, which the runtime converts to float32 when it loads the file.
        """
        graph = self.graph
        if self.precision == "fp32" or not self._for_file:
            pairs = zip(names, signs, strict=True)
            return graph.constant(np.concatenate([sign * self.weights[name] for name, sign in pairs]).reshape(shape))
        parts = [self.weights.quantized(name) for name in names]
        whole = np.concatenate([np.int8(sign) * part for sign, (part, _) in zip(signs, parts, strict=True)])
        scales = graph.constant(np.concatenate([scale for _, scale in parts]))
        return graph.reshape(graph.apply("DequantizeLinear", graph.constant(whole), scales, axis=0), *shape)

    def embedding(self, ids: Tensor, name: str) -> Tensor:
        """Return the embeddings (…, E) of word ids (…); the id −1 stands for no word, and its embedding is zero."""
        # An index of −1 selects the last row, to which a row of zeros is appended.
        graph = self.graph
        if self.precision == "fp32" and not self.weights.are_integers(name):
            return graph.apply("Gather", graph.constant(_with_zero(self.weights[name])), ids)
        # The embedding of a word is its row of integers times the scale of the row.
        whole, scales = self.weights.quantized(name)
        row = graph.cast(graph.apply("Gather", graph.constant(_with_zero(whole)), ids), "float32")
        scale = graph.apply("Gather", graph.constant(_with_zero(scales)), ids)
        return row * graph.insert_axis(scale, -1)

    def norm(self, x: Tensor, name: str) -> Tensor:
        """Apply layer normalisation to the last axis, (x − μ) / σ ∘ weight + bias, if the model has it (Ba et al. 2016)."""
        if not self.config.layer_norm:
            return x
        weight, bias = (self.graph.constant(self.weights[f"{name}.{kind}"]) for kind in ("weight", "bias"))
        return self.graph.apply("LayerNormalization", x, weight, bias, axis=-1, epsilon=_NORM_EPSILON)


def _with_zero(rows: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the rows, followed by a row of zeros."""
    return np.concatenate([rows, np.zeros_like(rows[:1])])
