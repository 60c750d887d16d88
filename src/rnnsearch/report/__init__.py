"""Figures and HTML pages: alignments, training curves, the page of a model, and the report of a reproduction."""

import contextlib
import os
import sys

from rnnsearch.extras import imports_of_extras

if "matplotlib" not in sys.modules:
    # Importing matplotlib fails if MPLBACKEND names an unknown backend. Nothing in this package opens a window.
    backend = os.environ.pop("MPLBACKEND", None)
    with imports_of_extras():
        import matplotlib

    if backend is not None:
        os.environ["MPLBACKEND"] = backend
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = backend  # for other users of matplotlib in this process, such as a notebook
