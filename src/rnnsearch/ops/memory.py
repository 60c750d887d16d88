"""Settings of malloc by which the process keeps freed memory between updates.

The C library returns the memory of large tensors to the system when they are freed. The next update requests the same amount
again, and the system clears and maps it page by page: tens of thousands of pages per update at the paper's size.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""glibc's constants for the free memory kept at the end of the heap, and for the size of blocks outside the heap."""

_DEFAULT_MMAP_THRESHOLD = 32 * 2**20
"""The second threshold, in bytes, that glibc reaches by itself as large blocks are freed; the first is then twice that."""

_LARGEST_HEAP_BLOCK = 64 * 2**20
"""The size, in bytes, above which blocks stay outside the heap: they are few, and would fragment it."""


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """A context in which the process keeps freed memory for reuse; at its end, the memory is returned to the system.

    It is meant for loops that allocate the same memory repeatedly. Without glibc it has no effect.
    """
    libc = _glibc()
    if libc is None:
        yield
        return
    # Blocks up to the threshold come from the heap, which is never trimmed. Setting a threshold also disables glibc's own
    # adaptation. Some versions of glibc reject the larger value, so a value that all versions accept is set first.
    libc.mallopt(_MMAP_THRESHOLD, _DEFAULT_MMAP_THRESHOLD)
    libc.mallopt(_MMAP_THRESHOLD, _LARGEST_HEAP_BLOCK)
    libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_THRESHOLD, _DEFAULT_MMAP_THRESHOLD)
        libc.mallopt(_TRIM_THRESHOLD, 2 * _DEFAULT_MMAP_THRESHOLD)
        libc.malloc_trim(0)


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library if it is glibc, otherwise None."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
