"""Where the machine code of compiled loops is kept, so that only the first program that calls one has to compile it.

Numba keeps it beside the source, or else in the user's cache folder, or in that of `NUMBA_CACHE_DIR`. Where it can write to
none of them, what lies beside the source is read all the same, and the rest is compiled anew each time.

What is kept is code, and is run. So a place counts only if nobody else can have written to it.
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

from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator, NullCache, _Cache

from rnnsearch.errors import RnnsearchWarning


def keep(compiled: Any, function: Callable[..., Any]) -> Any:
    """Have a compiled function of Numba, which has not been called yet, kept and found again. Returns it."""
    compiled._cache = _Kept(function)
    return compiled


class _Kept(_Cache):  # type: ignore[misc]
    """Numba's cache of a function, without its errors: what cannot be read or written is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _cache(self) -> Any:
        try:
            found = _OfFunction(self._function)
        except (RuntimeError, OSError):
            found = None
        if found is None or not is_safe(Path(found.cache_path), Path(self._function.__code__.co_filename)):
            _tell()
            return NullCache()
        return found

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._cache.load_overload(sig, target_context)
        except Exception:  # whatever a damaged file leads to
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
    """The folder beside the source, though it may be that nothing can be written to it."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        found = cls(py_func, py_file)
        return found if Path(found.get_cache_path()).is_dir() else None


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (*CompileResultCacheImpl._locator_classes, _BesideSource)


class _OfFunction(FunctionCache):  # type: ignore[misc]
    _impl_class = _Places


def is_safe(folder: Path, source: Path) -> bool:
    """Whether only this user, the superuser and the owner of `source` can have written to a folder, or replaced it."""
    if not hasattr(os, "geteuid"):  # this system knows no such rights
        return True
    place = Path(os.path.realpath(folder))
    trusted = {0, os.geteuid(), source.stat().st_uid}
    found = [each.stat() for each in (place, *place.parents)]
    for_all = [one for one in found if one.st_mode & stat.S_IWOTH and (one is found[0] or not one.st_mode & stat.S_ISVTX)]
    return not for_all and all(one.st_uid in trusted for one in found)


@cache
def _tell() -> None:
    if os.environ.get("RANK", "0") != "0":  # another process of the same training tells it
        return
    warnings.warn(
        "compiled loops cannot be kept, so each run compiles them anew, which takes time: there is no folder for them that "
        "this user alone can write to (NUMBA_CACHE_DIR names one)",
        RnnsearchWarning,
        stacklevel=2,
    )
