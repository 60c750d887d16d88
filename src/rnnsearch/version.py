"""The version of the package, and of what its results depend on."""

from __future__ import annotations

__version__ = "0.2.0"
DEPENDENCIES = ("torch", "onnxruntime", "numpy", "numba", "sentencepiece", "sacrebleu", "safetensors")


def describe() -> str:
    """Return the versions of the package, of Python and of the libraries on which results depend, and the platform.

    The first line is that of the package. No library is imported: the versions are those of the installed distributions.
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    versions = {"python": platform.python_version(), **{name: installed(name) for name in DEPENDENCIES}}
    versions["platform"] = f"{platform.system()} {platform.machine()}"
    return "\n".join([f"rnnsearch {__version__}", *(f"{name:14}{what}" for name, what in versions.items())])
