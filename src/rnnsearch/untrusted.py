"""Checks of untrusted files: limits on what is read, and checks of arrays before anything depends on them.

Only regular files are opened, without blocking, and whole files are read only up to a limit. JSON may be nested to any
depth, and its numbers may have any length. Arrays are checked to have the type, the shape and the range that compiled loops
expect.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from rnnsearch.errors import RnnsearchError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEGABYTE = 1 << 20
MOST_HEADER = 16 * MEGABYTE
"""The largest number of bytes of a safetensors header, which holds names and, in a checkpoint, all validations."""
_MOST_LIST = 64 * MEGABYTE
"""The largest number of bytes of a list in a model's folder."""
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises RnnsearchError for folders, pipes and devices, and OSError as `open` does."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _no_file(path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(*paths: Path, most: int | None = None) -> None:
    """Raise RnnsearchError for the first of these paths that exists and is not a regular file of at most `most` bytes."""
    for path in paths:
        if os.path.lexists(path):
            if not path.is_file():
                raise _no_file(path)
            if most is not None and path.stat().st_size > most:
                raise _too_large(path, most)


def _no_file(path: Path) -> RnnsearchError:
    """Return the error for a path that is not a regular file."""
    return RnnsearchError(
        f"{path}: this is not a file but a folder, a pipe, a device or a link to nothing; put the file itself there"
    )


def _too_large(path: Path, most: int) -> RnnsearchError:
    """Return the error for a file of more than `most` bytes."""
    return RnnsearchError(f"{path}: the file has more than {most:,} bytes, which no file of its kind has; is it one?")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file. Raises RnnsearchError for more than `most` bytes, and OSError as `open` does."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise _too_large(path, most)
        return file.read(size)  # at most as many bytes as were checked, even if the file grows


def read_list(path: Path, name: str) -> bytes | None:
    """Return the bytes of a list in a model's folder; None if there is none. Raises RnnsearchError, which has its `name`."""
    if not path.exists():
        return None
    try:
        return read_bytes(path, _MOST_LIST)
    except OSError as error:
        raise _unreadable(path, name, error) from None


def read_text_list(path: Path, name: str) -> str | None:
    """Return the text of a list in a model's folder, in UTF-8, as `read_list` does."""
    found = read_list(path, name)
    try:
        return None if found is None else found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, name, error) from None


def _unreadable(path: Path, name: str, error: Exception) -> RnnsearchError:
    return RnnsearchError(f"{path}: cannot read the {name}: {error}")


def read_json(path: Path, most: int = 16 * MEGABYTE) -> Any:
    """Return the value in a JSON file. Raises ValueError if it is not JSON, and the errors of `read_bytes`."""
    return parse_json(read_bytes(path, most))


def read_record(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or an empty one if there is no such file or it contains something else."""
    try:
        value = read_json(path)
    except (OSError, ValueError, RnnsearchError):
        return {}
    return value if isinstance(value, dict) else {}


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is not JSON or is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists or objects are nested too deep") from None


def check_header(path: Path) -> None:
    """Raise RnnsearchError if a file is not regular, or is larger than its safetensors header says.

    Only the header is read, of at most `MOST_HEADER` bytes. safetensors itself detects all other errors.
    """
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if length > MOST_HEADER:
            raise RnnsearchError(f"{path}: not a whole safetensors file (its header claims to be too long)")
        with suppress(ValueError, TypeError, KeyError, AttributeError, IndexError):
            tensors = [entry for name, entry in parse_json(file.read(length)).items() if name != "__metadata__"]
            end = max((int(entry["data_offsets"][1]) for entry in tensors), default=0)
            if os.fstat(file.fileno()).st_size > 8 + length + end:
                raise RnnsearchError(f"{path}: not a safetensors file: it is larger than its header says")


def check_inside(folder: Path, files: Iterable[Path]) -> None:
    """Raise RnnsearchError for the first of these files that is a link to a file outside of the folder.

    Links into the folder `blobs` of the Hugging Face Hub's cache are allowed, because the cache keeps the files of a model
    there.
    """
    root = folder.resolve()
    inside = [root]
    if root.parent.name == "snapshots" and root.parents[1].name.startswith("models--"):
        inside.append(root.parents[1] / "blobs")
    for path in files:
        if not any(path.resolve().is_relative_to(allowed) for allowed in inside):
            raise RnnsearchError(
                f"{path}: a link to a file outside of the folder, which would be given away; put the file itself there"
            )


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that `numpy.savez` has written, without compression.

    Raises ValueError for any other file, and OSError.
    """
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
    """The type, the shape and the range that an array must have."""

    dtype: str
    shape: tuple[int, ...]
    least: float = -inf
    most: float = inf


def check_arrays(arrays: Mapping[str, NDArray[Any]], expected: Mapping[str, Array]) -> None:
    """Raise ValueError unless the arrays are exactly the expected ones, with finite numbers in the expected range."""
    check_names(arrays, expected)
    for name, (dtype, shape, least, most) in expected.items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {dtype} {shape}")
        # `item` gives numbers of Python, which are compared exactly. If one number is NaN, so is the minimum.
        bounds = [array.min().item(), array.max().item()] if array.size else []
        if not all(isfinite(bound) and least <= bound <= most for bound in bounds):
            raise ValueError(f"{name} has a number that is not finite, or out of its range")


def check_names(found: Iterable[str], expected: Iterable[str]) -> None:
    """Raise ValueError unless both have the same names."""
    names, expected_names = set(found), set(expected)
    if missing := sorted(expected_names - names):
        raise ValueError(f"no {shown(missing[0])}")
    if unexpected := sorted(names - expected_names):
        raise ValueError(f"{shown(unexpected[0])} does not belong to it")
