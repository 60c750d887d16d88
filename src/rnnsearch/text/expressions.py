"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import regex


class Expression:
    """A regular expression with the methods of a compiled one.

    It is compiled when one of its methods is first called: compiling takes up to some ten milliseconds, and most texts need
    only a few of the expressions.
    """

    def __init__(self, pattern: str, flags: int = 0, compiler: Callable[[str, int], Any] = regex.compile) -> None:
        """By default, the expression is one of the package `regex`."""
        self._pattern, self._flags, self._compiler = pattern, flags, compiler

    def __getattr__(self, name: str) -> Any:
        """Return a method of the compiled expression, and keep it, so that it is found without this function again."""
        method = getattr(self._compiler(self._pattern, self._flags), name)
        setattr(self, name, method)
        return method
