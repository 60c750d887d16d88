"""A writer of the ONNX file format, as far as these graphs need it: Protocol Buffers with the field numbers of `onnx.proto`.

The package `onnx` could write this format too, but would add 33 MB to every installation that translates; only the tests use
it, to check the files that this module writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IR_VERSION, OPSET = 10, 21
"""The versions of the format and of the operators, which ONNX Runtime supports since 1.20."""

ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}
"""The types of elements by their names in NumPy (`TensorProto.DataType`)."""

_VARINT, _BYTES, _FIXED32 = 0, 2, 5
"""The wire types of Protocol Buffers."""

Field = int | float | str | bytes


def message(*fields: tuple[int, Field]) -> bytes:
    """Encode a message with these fields, pairs of a field number and a value. A nested message is a value of bytes."""
    return b"".join(part for number, value in fields for part in _field(number, value))


def _field(number: int, value: Field) -> tuple[bytes, ...]:
    """Encode a field: its number and wire type, and its value, which the length precedes if it is not of a fixed size."""
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT), _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | _FIXED32), struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return _varint(number << 3 | _BYTES), _varint(len(value)), value


def _varint(number: int) -> bytes:
    """Encode an integer as a varint, seven bits per byte, the lowest first; negative numbers have 64 bits."""
    number &= (1 << 64) - 1
    written = bytearray()
    # The highest bit of a byte tells that another byte follows.
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def tensor(name: str, array: NDArray[Any]) -> bytes:
    """Encode an array as a `TensorProto`."""
    # The fields are dims, data_type, name and raw_data, which is little-endian.
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    sizes = [(1, size) for size in array.shape]
    return message(*sizes, (2, ELEMENT_TYPES[array.dtype.name]), (8, name), (9, little.tobytes()))


def external_tensor(name: str, array: NDArray[Any]) -> bytes:
    """Encode a `TensorProto` without the values of an array, which the runtime receives separately."""
    # The fields are dims, data_type, name, external_data and data_location (EXTERNAL).
    sizes = [(1, size) for size in array.shape]
    place = message((1, "location"), (2, "memory"))
    return message(*sizes, (2, ELEMENT_TYPES[array.dtype.name]), (8, name), (13, place), (14, 1))


def value_info(name: str, element_type: str, axes: Sequence[int | str]) -> bytes:
    """Encode a `ValueInfoProto`: the type and the shape of an input or output. A string names an axis of any size."""
    shape = message(*((1, message((1, axis) if isinstance(axis, int) else (2, axis))) for axis in axes))
    return message((1, name), (2, message((1, message((1, ELEMENT_TYPES[element_type]), (2, shape))))))


def node(operator: str, inputs: Iterable[str], outputs: Iterable[str], attributes: Mapping[str, Any]) -> bytes:
    """Encode a `NodeProto`: an operator, and the names of its inputs (empty for an omitted one) and outputs.

    The name of an operator outside the standard begins with its domain: `com.microsoft.MatMulIntegerToFloat`.
    """
    domain, _, name = operator.rpartition(".")
    fields: list[tuple[int, Field]] = [(1, tensor) for tensor in inputs]
    fields += [(2, tensor) for tensor in outputs]
    fields += [(4, name), *((5, _attribute(key, value)) for key, value in attributes.items())]
    return message(*fields, *([(7, domain)] if domain else []))


def _attribute(name: str, value: int | float | str | Sequence[int]) -> bytes:
    """Encode an `AttributeProto`: a number, a string, or a list of integers."""
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    if isinstance(value, str):
        return message((1, name), (4, value), (20, 3))
    return message((1, name), *((8, number) for number in value), (20, 7))


def model(
    name: str,
    nodes: Iterable[bytes],
    constants: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
    metadata: Mapping[str, str],
) -> bytes:
    """Encode a `ModelProto`, a whole file, from its encoded parts."""
    fields: list[tuple[int, Field]] = [(1, one) for one in nodes]
    fields += [(2, name), *((5, one) for one in constants)]
    fields += [*((11, one) for one in inputs), *((12, one) for one in outputs)]
    entries = [(14, message((1, key), (2, value))) for key, value in metadata.items()]
    operators = [(8, message((1, ""), (2, OPSET))), (8, message((1, "com.microsoft"), (2, 1)))]
    return message((1, IR_VERSION), (2, "rnnsearch"), (7, message(*fields)), *operators, *entries)
