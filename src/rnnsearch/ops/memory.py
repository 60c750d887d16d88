"""Memory that stays with the process between one update and the next.

The C library gives the memory of large tensors back to the system when they are freed. The next update needs as much again,
and the system hands it out page by page, cleared: tens of thousands of pages an update at the paper's size.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""glibc's numbers for what is freed at the end of its heap and kept, and for what has a place of its own outside of it."""

_USUAL = 32 * 2**20
"""Where glibc's second threshold ends up by itself once large blocks have been freed; the first is twice as much."""

_KEPT = 64 * 2**20
"""Larger blocks stay outside: there are few, and the holes that they would leave in the heap are soon broken up."""


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Within it, freed memory is kept for what comes next; afterwards it is given back.

    It is for loops that need the same memory over and over. Does nothing where the C library is not glibc.
    """
    libc = _glibc()
    if libc is None:
        yield
        return
    libc.mallopt(_MMAP_THRESHOLD, _USUAL)
    libc.mallopt(_MMAP_THRESHOLD, _KEPT)  # some versions refuse so much
    libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_THRESHOLD, _USUAL)
        libc.mallopt(_TRIM_THRESHOLD, 2 * _USUAL)
        libc.malloc_trim(0)


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
