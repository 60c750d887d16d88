"""Files of weights in the format of safetensors.

Nothing is unpickled when such a file is read. Its header has a checksum of the tensors, which reveals changed bytes, and a
hash of the configuration and vocabularies to which they belong, which reveals files of another model.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize, safe_open
from safetensors.numpy import save_file

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.shapes import Shapes
from rnnsearch.graphs.weights import Arrays, Weights
from rnnsearch.model_files import SCALE
from rnnsearch.untrusted import check_header, parse_json
from rnnsearch.weight_names import present_name

_HEADER = "rnnsearch"
"""The entry of a weight file's metadata that identifies the model of the weights."""
_DTYPES = ("F64", "F32", "F16", "BF16")
"""The types that a tensor of weights may have, besides int8."""


def write_weights(path: Path, weights: Weights, fingerprint: str, precision: Precision) -> None:
    """Write weights atomically, under the names of `docs/reference/symbols.md`.

    `fingerprint` identifies the system to which they belong (`System.fingerprint`). With `int8`, matrices are written as
    integers and scales (`Weights.quantized`), vectors as float32.
    """
    arrays: Arrays = {}
    for name in (name for name in weights.arrays if not name.endswith(SCALE)):
        if precision == "int8" and len(weights.shape(name)) == 2:
            arrays[name], arrays[name + SCALE] = weights.quantized(name)
        else:
            arrays[name] = weights.exactly(name)
    # There is a single entry, because safetensors does not keep the order of several.
    header = {"crc32": checksum(arrays), "of": fingerprint}
    check_name(path)
    with atomic_write(path) as temporary:
        save_file(
            {name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary, {_HEADER: json.dumps(header)}
        )


def check_name(path: Path) -> None:
    """Raise RnnsearchError for a file name that is not UTF-8; safetensors cannot read or write such files."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RnnsearchError(f"{path}: the name is not UTF-8, and so no model can be there; give another folder") from None


def checksum(arrays: Mapping[str, NDArray[Any]], *texts: str) -> str:
    """Return the CRC-32 checksum of arrays, in the order of their names, and of texts."""
    crc = 0
    for _, array in sorted(arrays.items()):
        crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, crc)
    for text in texts:
        crc = zlib.crc32(text.encode(), crc)
    return f"{crc:08x}"


def _check_layout(path: Path, file: Any, shapes: Shapes) -> None:
    """Raise RnnsearchError unless the tensors of an open file have these names and shapes, and a type of weights.

    An int8 matrix has a further tensor with a scale for each of its rows.
    """
    slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    tensors = {present_name(name): (one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()}
    if len(tensors) < len(slices):
        raise RnnsearchError(f"{path}: one tensor is there under two names; copy the file again")
    for name, expected in shapes.items():
        if name not in tensors:
            raise RnnsearchError(f"{path}: no tensor {name!r}, which config.json asks for")
        dtype, shape = tensors.pop(name)
        if shape != expected:
            raise RnnsearchError(f"{path}: {name} is {shape}, but config.json and the vocabularies make it {expected}")
        if dtype == "I8":
            scale = tensors.pop(name + SCALE, None)
            if len(expected) != 2 or scale is None or scale[0] not in _DTYPES or scale[1] != shape[:1]:
                raise RnnsearchError(f"{path}: {name} is int8, but {name + SCALE} has not one scale for each row")
        elif dtype not in _DTYPES:
            raise RnnsearchError(f"{path}: {name} is of {dtype}; weights are floating-point numbers, or int8 with scales")
    if tensors:
        raise RnnsearchError(f"{path}: {shown(min(tensors))} is no tensor of the model that config.json describes")


def read_weights(path: Path, shapes: Shapes) -> tuple[Weights, dict[str, str]]:
    """Return the weights in a file, and its header, which is empty in files of version 0.1.

    Raises RnnsearchError if the file is damaged or has other weights than those of these shapes.
    """
    arrays, metadata = _read_arrays(path, shapes)
    try:
        header = parse_json(metadata.get(_HEADER, "{}"))
        intact = isinstance(header, dict) and ("crc32" not in header or header["crc32"] == checksum(arrays))
    except ValueError:
        intact = False
    if not intact:
        raise RnnsearchError(f"{path}: damaged: these are not the weights that were written; copy the file again")
    for name, array in arrays.items():
        if array.dtype == np.uint16:  # bfloat16 is the first half of float32
            arrays[name] = (array.astype(np.uint32) << 16).view(np.float32)
    weights = Weights(arrays)
    for name in shapes:
        if not weights.are_finite(name):
            raise RnnsearchError(
                f"{path}: {name} has a number that is not finite: nothing can be computed with it; get the model again, or "
                "train it with a lower training.learning_rate"
            )
    return weights, header


def _read_arrays(path: Path, shapes: Shapes) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays of a safetensors file, under their present names, and its metadata, from one version of the file.

    Raises RnnsearchError if the file is damaged or does not fit.
    """
    check_name(path)
    try:
        while True:
            before = _identity(path)
            check_header(path)
            with safe_open(path, "np") as file:
                _check_layout(path, file, shapes)
                types = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 (no mapping)
                if "BF16" in types.values():  # NumPy has no such numbers
                    arrays = _deserialized(path)
                else:
                    arrays = {present_name(name): file.get_tensor(name) for name in types}
                metadata = dict(file.metadata() or {})
                # safetensors opens the file twice, and a training may have replaced it in between.
                if _identity(path) == before:
                    return arrays, metadata
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:  # the last two: an unknown type
        raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None


def _deserialized(path: Path) -> Arrays:
    """Return the arrays of a safetensors file, in which those of bfloat16 have the type uint16."""
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "i1"}
    return {
        present_name(name): np.frombuffer(one["data"], types[one["dtype"]]).reshape(one["shape"])
        for name, one in deserialize(path.read_bytes())
    }


def _identity(path: Path) -> tuple[int, int, int]:
    """Return the inode, the time and the size of a file, which differ from those of a file that replaces it."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
