"""Runs a benchmark: `python benchmarks FOLDER/SCRIPT --help`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def scripts() -> list[str]:
    """The names of all scripts: the modules that have a function `main`."""
    paths = (path for path in FOLDER.glob("*/**/*.py") if "\ndef main(" in path.read_text(encoding="utf-8"))
    return sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in (*paths, FOLDER / "gpu.py"))


if __name__ == "__main__":
    sys.path[0] = str(FOLDER.parent)  # not the folder of this file, whose modules are those of the package `benchmarks`
    parser = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    parser.add_argument("script", choices=scripts(), metavar="FOLDER/SCRIPT", help=", ".join(scripts()))
    script = parser.parse_args(sys.argv[1:2]).script
    del sys.argv[0]
    import_module(f"benchmarks.{script.replace('/', '.')}").main()
