"""Figures and HTML pages: alignments, training curves, the page of a model, and the report of a reproduction."""

import contextlib
import os
import sys
from importlib.util import find_spec

if "matplotlib" not in sys.modules and find_spec("matplotlib"):  # Pages without figures need no matplotlib.
    # Importing matplotlib fails if MPLBACKEND names an unknown backend. Nothing in this package opens a window.
    backend = os.environ.pop("MPLBACKEND", None)
    import matplotlib

    if backend is not None:
        os.environ["MPLBACKEND"] = backend
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = backend  # for other users of matplotlib in this process, such as a notebook
