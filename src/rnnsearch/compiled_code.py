"""The cache of machine code of compiled loops, so that only the first program that calls a loop has to compile it.

Numba stores the code beside the source, or in the user's cache folder, or in the folder that `NUMBA_CACHE_DIR` names. If it
cannot write to any of these, code beside the source is still read, and other code is compiled in every run.

Cached code is executed, so a folder is used only if no other user can have written to it.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator, NullCache, _Cache

from rnnsearch.errors import RnnsearchWarning


def compiled_loop(function: Callable[..., Any]) -> Any:
    """Compile a function for the present CPU when it is first called, and cache its machine code. It releases the GIL."""
    return keep(njit(nogil=True)(function), function)


def keep(compiled: Any, function: Callable[..., Any]) -> Any:
    """Cache the machine code of a Numba function, which must not have been called yet, and return the function."""
    compiled._cache = _TolerantCache(function)
    return compiled


class _TolerantCache(_Cache):  # type: ignore[misc]
    """Numba's cache of a function, without its errors: if code cannot be read or written, the function is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _cache(self) -> Any:
        try:
            cache = _OfFunction(self._function)
        except (RuntimeError, OSError):
            cache = None
        if cache is None or not is_safe(Path(cache.cache_path), Path(self._function.__code__.co_filename)):
            _tell()
            return NullCache()
        return cache

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._cache.load_overload(sig, target_context)
        except Exception:  # a damaged file can cause any exception
            with suppress(OSError):
                self._cache.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._cache.save_overload(sig, data)
        except Exception:
            _tell()

    @property
    def cache_path(self) -> Any:
        return self._cache.cache_path

    def enable(self) -> None:
        self._cache.enable()

    def disable(self) -> None:
        self._cache.disable()

    def flush(self) -> None:
        self._cache.flush()


class _BesideSource(InTreeCacheLocator):  # type: ignore[misc]
    """The cache folder beside the source, even if it cannot be written."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        locator = cls(py_func, py_file)
        return locator if Path(locator.get_cache_path()).is_dir() else None


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's search for a cache folder, with the folder beside the source as the last resort."""

    _locator_classes = (*CompileResultCacheImpl._locator_classes, _BesideSource)


class _OfFunction(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, in one of `_Places`."""

    _impl_class = _Places


def is_safe(folder: Path, source: Path) -> bool:
    """Whether only this user, the superuser and the owner of `source` can have written to a folder or replaced it."""
    if not hasattr(os, "geteuid"):  # the system has no such permissions
        return True
    real = Path(os.path.realpath(folder))
    trusted = {0, os.geteuid(), source.stat().st_uid}
    # In a parent folder with the sticky bit, such as /tmp, others can write but not replace the folders of this user.
    states = [path.stat() for path in (real, *real.parents)]
    for_all = [s for s in states if s.st_mode & stat.S_IWOTH and (s is states[0] or not s.st_mode & stat.S_ISVTX)]
    return not for_all and all(s.st_uid in trusted for s in states)


@cache
def _tell() -> None:
    """Warn, once per program, that compiled code cannot be cached."""
    if os.environ.get("RANK", "0") != "0":  # the first process of the training gives the warning
        return
    warnings.warn(
        "compiled loops cannot be kept, so each run compiles them anew, which takes time: there is no folder for them that "
        "this user alone can write to (NUMBA_CACHE_DIR names one)",
        RnnsearchWarning,
        stacklevel=2,
    )
