"""What strangers may put into a folder: arrays that are not what they should be, odd JSON, links, pipes, bombs."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError

Arrays = dict[str, NDArray[Any]]
ODD_NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 3e38, 1e300, 2.0**62, -(2.0**62), 1e-45)
DTYPES = ("bool", "float64", "float32", "float16", "complex64", "int64", "int32", "int8", "uint64", "uint8")


def permute(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """The rows in another order."""
    return array[random.sample(range(len(array)), len(array))] if array.ndim else array + 1


def cut(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """Fewer rows, or none."""
    return array[: random.choice((0, 1, len(array) // 2, max(0, len(array) - 1)))] if array.ndim else array[None]


def extend(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """More rows."""
    rows = array if array.ndim else array[None]
    return np.concatenate([rows, rows[:1], rows[: random.choice((0, 1, len(rows)))]])


def poison(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """One number that is none, or out of its range; or all of them."""
    found = array.copy()
    with np.errstate(all="ignore"):
        number = np.array(random.choice(ODD_NUMBERS)).astype(found.dtype)
    if found.size and random.random() < 0.7:
        found.reshape(-1)[random.randrange(found.size)] = number
    else:
        found[...] = number
    return found


def reshape(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """The same numbers in another shape."""
    return random.choice((array.T, array.reshape(-1), array[None], array[..., None], array.reshape(-1, 1)))


def retype(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """The same numbers of another type."""
    with np.errstate(all="ignore"):
        return array.astype(random.choice(DTYPES))


def shuffle_bits(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """Any bits."""
    return np.frombuffer(random.randbytes(array.nbytes), array.dtype).reshape(array.shape)


WAYS: tuple[Callable[[NDArray[Any], Random], NDArray[Any]], ...] = (
    permute, cut, extend, poison, poison, reshape, retype, shuffle_bits,
)  # fmt: skip


def alter(arrays: Mapping[str, NDArray[Any]], random: Random) -> tuple[Arrays, str]:
    """Arrays of which one is altered, missing, there under another name, or in the place of another; and what was done."""
    found = dict(arrays)
    name = random.choice(sorted(found))
    way = random.choice((*WAYS, None))
    if way is not None:
        found[name] = np.ascontiguousarray(way(found[name], random))
        return found, f"{name} {way.__name__}"
    other = random.choice(sorted(found))
    what = random.choice(("drop", "add", "rename", "exchange"))
    if what == "drop":
        del found[name]
    elif what == "add":
        found[random.choice(("more", "../x", "\x1b[2J", "é" * 100))] = np.zeros(random.choice((0, 1, 1000)), np.float32)
    elif what == "rename":
        found[name + random.choice((".0", " ", "\n", "\x1b[31m"))] = found.pop(name)
    else:
        found[name], found[other] = found[other], found[name]
    return found, f"{name} {what} {other}"


def deep(size: int = 100_000) -> str:
    """JSON, and TOML, that is nested too deep."""
    return "[" * size


def long_number(digits: int = 5000) -> str:
    """A number of so many digits."""
    return "9" * digits


ODD_JSON = (
    "", "[]", "{}", "null", "true", "1", '"x"', "NaN", deep(), '{"a":' * 50_000, long_number(), "{}\0",
    '{"format": 1e999}', "\ufeff{}", "\ud800", json.dumps({"\x1b[2J": "\x1b]0;x\x07"}),
    json.dumps([["model", {}]]), json.dumps({"data": {"source_language": "[/b]"}}),
    json.dumps({"model": {"hidden_size": int(long_number(4000))}}), json.dumps({"x" * 100_000: "\n" * 1000}),
)  # fmt: skip
"""Texts to put in the place of a JSON file."""


def replace_by_link(path: Path, target: Path | str) -> None:
    """Let a name be a link."""
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def replace_by_pipe(path: Path) -> None:
    """Let a name be a pipe that nobody writes into."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def replace_by_folder(path: Path) -> None:
    """Let a name be a folder."""
    path.unlink(missing_ok=True)
    path.mkdir()


def claim(path: Path, dtype: str, shape: tuple[int, ...], content: int = 0, names: tuple[str, ...] = ("a",)) -> None:
    """Let a file be one of safetensors that claims arrays of this size, and has so many bytes of them."""
    bits = {"F64": 64, "F32": 32, "F16": 16, "I8": 8, "BOOL": 8, "I64": 64}[dtype]
    size = bits // 8
    for length in shape:
        size *= length
    entries = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]} for name in names}
    header = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(content))


def in_child(sound: Callable[[], bool], gigabytes: float = 4, seconds: int = 60) -> str:
    """`sound`, `refused` in one line, or what else came of it, in a process of its own that may take so much more memory."""
    child = os.fork()
    if not child:
        came = 3
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
            most = pages * resource.getpagesize() + int(gigabytes * 1e9)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            signal.alarm(seconds)  # nothing waits for a pipe
            came = 0 if sound() else 2
        except RnnsearchError as error:
            came = 1 if str(error).isprintable() or "\n" not in str(error) else 4
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(came)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return ("sound", "refused", "unsound", "another error", "an error of several lines")[os.WEXITSTATUS(status)]


def huge(path: Path, size: int = 1 << 40) -> None:
    """Let a file be as large as no memory, though it takes no room on the disk."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(size)
