"""The packages that only some of the program needs, and the extras of `pip install` that bring them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from rnnsearch.errors import RnnsearchError

EXTRAS = {
    "torch": "train",
    "pyarrow": "train",
    "tensorboard": "train",
    "matplotlib": "plots",
    "huggingface_hub": "hub",
    "duckdb": "big",
    "ray": "ray",
}
"""The extra of each package, as it is imported."""


@contextmanager
def imports_of_extras() -> Iterator[None]:
    """Return a context in which the import of a package that is not installed raises an RnnsearchError with its extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise _missing(package) from None


def require(package: str) -> None:
    """Raise RnnsearchError, which names its extra, if a package is not installed; nothing is imported."""
    if find_spec(package) is None:
        raise _missing(package)


def _missing(package: str) -> RnnsearchError:
    return RnnsearchError(
        f"this needs the package {package}, which is not installed: pip install 'rnnsearch[{EXTRAS[package]}]'"
    )
