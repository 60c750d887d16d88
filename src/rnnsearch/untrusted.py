"""What strangers made: files are read within bounds, and arrays are checked before anything depends on them.

A file is opened without waiting for anybody, only where it is a regular file, and read whole only up to a limit; JSON may be
nested as deep and its numbers may be as long as somebody likes. An array that a compiled loop reads is of the type, of the
shape and in the range that the loop expects.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from rnnsearch.errors import RnnsearchError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEGABYTE = 1 << 20
MOST_HEADER = 16 * MEGABYTE
"""Bytes of the header of a safetensors file: it holds names, and of a checkpoint all validations."""
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it. Raises RnnsearchError for a folder, a pipe or a device, and OSError as `open` does."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _no_file(path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(*paths: Path) -> None:
    """Raise RnnsearchError for the first of these that is there and is not a regular file."""
    for path in paths:
        if os.path.lexists(path) and not path.is_file():
            raise _no_file(path)


def _no_file(path: Path) -> RnnsearchError:
    return RnnsearchError(
        f"{path}: this is not a file but a folder, a pipe, a device or a link to nothing; put the file itself there"
    )


def read_bytes(path: Path, most: int) -> bytes:
    """All of a regular file. Raises RnnsearchError where it has more than `most` bytes, and OSError as `open` does."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise RnnsearchError(f"{path}: the file has more than {most:,} bytes, which no file of its kind has; is it one?")
        return file.read(size)  # memory is taken for as much as is asked for


def read_json(path: Path, most: int = 16 * MEGABYTE) -> Any:
    """The value in a JSON file. Raises ValueError where it is not JSON, and what `read_bytes` raises."""
    return parse_json(read_bytes(path, most))


def read_record(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is none, whatever else is there."""
    try:
        found = read_json(path)
    except (OSError, ValueError, RnnsearchError):
        return {}
    return found if isinstance(found, dict) else {}


def parse_json(text: str | bytes) -> Any:
    """The value that a JSON text holds. Raises ValueError where it is not JSON, or is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists or objects are nested too deep") from None


def check_header(path: Path) -> None:
    """Raise RnnsearchError where a file is not regular, or begins with a header of safetensors that is absurdly long.

    That the tensors which a header describes fill the rest of the file, byte by byte, is checked by safetensors.
    """
    with open_regular(path) as file:
        if int.from_bytes(file.read(8), "little") > MOST_HEADER:
            raise RnnsearchError(f"{path}: not a whole safetensors file (its header claims to be too long)")


def check_inside(folder: Path, files: Iterable[Path]) -> None:
    """Raise RnnsearchError for the first of a folder's files that is a link to something outside.

    The cache of the Hugging Face Hub keeps the files of a model in a folder `blobs` of its own, and links to them.
    """
    root = folder.resolve()
    inside = [root]
    if root.parent.name == "snapshots" and root.parents[1].name.startswith("models--"):
        inside.append(root.parents[1] / "blobs")
    for path in files:
        if not any(path.resolve().is_relative_to(place) for place in inside):
            raise RnnsearchError(
                f"{path}: a link to a file outside of the folder, which would be given away; put the file itself there"
            )


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays that `numpy.savez` has written, which does not compress. Raises ValueError for what it has not; OSError."""
    import numpy as np

    try:
        with zipfile.ZipFile(open_regular(path)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > path.stat().st_size:
                raise ValueError("its arrays are larger than the file")
        with np.load(path) as file:
            return dict(file)
    except (*_DAMAGED_ZIP, RnnsearchError) as error:
        raise ValueError(str(error)) from None


class Array(NamedTuple):
    """What an array must be."""

    dtype: str
    shape: tuple[int, ...]
    least: float = -inf
    most: float = inf


def check_arrays(arrays: Mapping[str, NDArray[Any]], expected: Mapping[str, Array]) -> None:
    """Raise ValueError unless these are exactly the arrays that are expected, and their numbers are finite and in range."""
    check_names(arrays, expected)
    for name, (dtype, shape, least, most) in expected.items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {dtype} {shape}")
        # As numbers of Python, which are compared exactly. The least of numbers of which one is NaN is NaN.
        bounds = [array.min().item(), array.max().item()] if array.size else []
        if not all(isfinite(bound) and least <= bound <= most for bound in bounds):
            raise ValueError(f"{name} has a number that is not finite, or out of its range")


def check_names(found: Iterable[str], expected: Iterable[str]) -> None:
    """Raise ValueError unless the names are the same."""
    there, wanted = set(found), set(expected)
    if missing := sorted(wanted - there):
        raise ValueError(f"no {shown(missing[0])}")
    if more := sorted(there - wanted):
        raise ValueError(f"{shown(more[0])} does not belong to it")
