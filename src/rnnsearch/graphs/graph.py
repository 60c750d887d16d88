"""The construction of graphs, in a notation that resembles the equations: operators on tensors add nodes to a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnnsearch.errors import RnnsearchError
from rnnsearch.graphs import onnx_format

LARGEST_FILE = 2**31 - 1
"""The largest size of a Protocol Buffers message, in bytes."""
SMALL = 1024
"""Constants of up to this many bytes are always stored in the file, because the runtime needs some of them, such as shapes,
before it reads the others."""


@dataclass(eq=False)
class Tensor:
    """A tensor of a graph. The operators `+`, `-`, `*`, `/` and `@` add a node to the graph; numbers become float32
    constants.
    """

    graph: Graph
    name: str

    def __add__(self, other: Tensor | float) -> Tensor:
        return self.graph.apply("Add", self, other)

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self.graph.apply("Sub", self, other)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self.graph.apply("Mul", self, other)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self.graph.apply("Div", self, other)

    def __matmul__(self, other: Tensor) -> Tensor:
        return self.graph.apply("MatMul", self, other)


@dataclass(frozen=True)
class _Node:
    operator: str
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    attributes: dict[str, Any]


class Graph:
    """A graph of ONNX operators (https://onnx.ai/onnx/operators) that is being built."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: dict[str, tuple[str, tuple[int | str, ...]]] = {}
        """The type and the shape of each input; a string names an axis of any size."""
        self.outputs: dict[str, tuple[str, tuple[int | str, ...]]] = {}
        self._nodes: list[_Node] = []
        self._constants: dict[str, NDArray[Any]] = {}
        self._known: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}

    def input(self, name: str, element_type: str, *axes: int | str) -> Tensor:
        """Declare an input of the graph, and return it as a tensor."""
        self.inputs[name] = element_type, axes
        return Tensor(self, name)

    def output(self, name: str, tensor: Tensor, element_type: str, *axes: int | str) -> None:
        """Declare a tensor as an output of the graph with this name."""
        # An input, a constant or another output keeps its name, so it is copied.
        if tensor.name in {*self.inputs, *self.outputs, *self._constants}:
            tensor = self.apply("Identity", tensor)
        self.outputs[name] = element_type, axes
        tensor.name = name

    def constant(self, values: ArrayLike) -> Tensor:
        """Return a constant tensor with these values; float64 becomes float32. Equal small constants are stored once."""
        array = np.asarray(values)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        key = array.dtype.name, array.shape, array.tobytes() if array.size <= 64 else b""
        if key not in self._known or not key[-1]:
            name = f"constant_{len(self._constants)}"
            self._constants[name], self._known[key] = array, Tensor(self, name)
        return self._known[key]

    def apply(self, operator: str, *inputs: Tensor | float | None, **attributes: Any) -> Tensor:
        """Apply an operator, and return its first result. None stands for an omitted input."""
        return self.apply_many(operator, 1, *inputs, **attributes)[0]

    def apply_many(self, operator: str, count: int, *inputs: Tensor | float | None, **attributes: Any) -> list[Tensor]:
        """Apply an operator, and return its first `count` results."""
        given = [one if isinstance(one, Tensor | None) else self.constant(float(one)) for one in inputs]
        outputs = [Tensor(self, f"{operator.rpartition(chr(46))[2]}_{len(self._nodes)}_{place}") for place in range(count)]
        self._nodes.append(_Node(operator, given, outputs, attributes))
        return outputs

    def join(self, tensors: Sequence[Tensor], axis: int = -1) -> Tensor:
        """Concatenate tensors along an axis."""
        return tensors[0] if len(tensors) == 1 else self.apply("Concat", *tensors, axis=axis)

    def split(self, tensor: Tensor, sizes: Sequence[int], axis: int = -1) -> list[Tensor]:
        """Split a tensor along an axis into parts of these sizes."""
        if len(sizes) == 1:
            return [tensor]
        return self.apply_many("Split", len(sizes), tensor, self.constant(np.array(sizes, np.int64)), axis=axis)

    def reshape(self, tensor: Tensor, *sizes: int) -> Tensor:
        """Reshape a tensor; a size of 0 keeps the size of the axis, and −1 stands for the remaining size."""
        return self.apply("Reshape", tensor, self.constant(np.array(sizes, np.int64)))

    def insert_axis(self, tensor: Tensor, axis: int) -> Tensor:
        """Insert an axis of size 1 at this place."""
        return self.apply("Unsqueeze", tensor, self.constant(np.array([axis], np.int64)))

    def remove_axis(self, tensor: Tensor, axis: int) -> Tensor:
        """Remove an axis of size 1."""
        return self.apply("Squeeze", tensor, self.constant(np.array([axis], np.int64)))

    def reduce(self, operator: str, tensor: Tensor, axis: int, keep: bool = False) -> Tensor:
        """Apply `ReduceMax` or a similar operator along an axis; with `keep`, the axis remains with size 1."""
        return self.apply(operator, tensor, self.constant(np.array([axis], np.int64)), keepdims=int(keep))

    def cast(self, tensor: Tensor, element_type: str) -> Tensor:
        """Convert a tensor to another element type."""
        return self.apply("Cast", tensor, to=onnx_format.ELEMENT_TYPES[element_type])

    def positions(self, like: Tensor, axis: int) -> Tensor:
        """Return 0, 1, 2, … (int64), with the size that the tensor `like` has along an axis."""
        size = self.apply("Shape", like, start=axis, end=axis + 1)
        zero, one = self.constant(np.int64(0)), self.constant(np.int64(1))
        return self.apply("Range", zero, self.remove_axis(size, 0), one)

    def file(self, **metadata: str) -> bytes:
        """Return the graph as an ONNX file with all constants. Raises RnnsearchError if it is larger than 2.1 GB."""
        size = sum(array.nbytes for array in self._constants.values())
        if size > LARGEST_FILE - (1 << 20):
            raise RnnsearchError(
                f"{self.name}: {size / 1e9:.1f} GB of weights, and an ONNX file holds 2.1 GB; export with --precision int8"
            )
        return self._written([onnx_format.tensor(name, array) for name, array in self._constants.items()], metadata)

    def hand_over(self) -> tuple[bytes, dict[str, NDArray[Any]]]:
        """Return an ONNX file without the large constants, and these constants by name.

        The graph gives up its constants, so that they do not exist twice while a model is loaded.
        """
        file_parts = []
        large: dict[str, NDArray[Any]] = {}
        for name, array in self._constants.items():
            if array.nbytes > SMALL:
                large[name] = np.ascontiguousarray(array)
                file_parts.append(onnx_format.external_tensor(name, array))
            else:
                file_parts.append(onnx_format.tensor(name, array))
        self._constants.clear()
        return self._written(file_parts, {}), large

    def _written(self, constants: list[bytes], metadata: Mapping[str, str]) -> bytes:
        """Return the graph as an ONNX file with these encoded constants."""
        nodes = (
            onnx_format.node(
                node.operator,
                [one.name if one else "" for one in node.inputs],
                [one.name for one in node.outputs],
                node.attributes,
            )
            for node in self._nodes
        )
        inputs, outputs = (
            [onnx_format.value_info(name, element_type, axes) for name, (element_type, axes) in group.items()]
            for group in (self.inputs, self.outputs)
        )
        return onnx_format.model(self.name, nodes, constants, inputs, outputs, metadata)
