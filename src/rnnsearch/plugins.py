"""Alignment models and cells that a user defines, outside of the package.

A plugin is a Python file, or a module of an installed package, that defines subclasses of `rnnsearch.model.Attention` or
`rnnsearch.model.Cell`. Their names then are values of `model.alignment` and `model.cell`. A file is given by
`rnnsearch --plugin FILE.py COMMAND …`; a package names its module as an entry point of the group `rnnsearch.plugins`, with
the name of the alignment model or cell. A model folder never brings code of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from rnnsearch.errors import RnnsearchError

VARIABLE = "RNNSEARCH_PLUGINS"
"""The environment variable with the files that are loaded, separated as in PATH; child processes inherit it."""
GROUP = "rnnsearch.plugins"

NAMES: dict[str, list[str]] = {
    "alignment": ["mlp", "none", "dot", "bilinear", "location", "monotonic"],
    "cell": ["gated", "lstm", "tanh"],
}
"""The values of `model.alignment` and `model.cell`: those of the package, and those of the plugins that are loaded."""
OWN = {kind: tuple(names) for kind, names in NAMES.items()}
"""Those of the package alone."""


def needed(alignment: str, cell: str) -> bool:
    """Whether a model with this alignment model and this cell needs a plugin; such a model can only run in PyTorch."""
    return alignment not in OWN["alignment"] or cell not in OWN["cell"]


def register(kind: str, name: str) -> None:
    """Make a name a value of the setting `model.KIND`. The classes call this when they are defined."""
    if name not in NAMES[kind]:
        NAMES[kind].append(name)


def known(kind: str, name: str) -> bool:
    """Whether `name` is a value of `model.KIND`; an installed package that has it as an entry point is loaded."""
    if name not in NAMES[kind]:
        from importlib.metadata import entry_points  # slow to import, and hardly ever needed

        for entry in entry_points(group=GROUP, name=name):
            entry.load()
    return name in NAMES[kind]


def load_files(paths: Sequence[Path]) -> None:
    """Run plugins in this process, and add them to the environment variable, so that child processes run them too.

    Raises RnnsearchError, with the line of the file, if one cannot be read or ends in an exception.
    """
    for path in paths:
        _load(path.resolve())
    if paths:
        os.environ[VARIABLE] = os.pathsep.join(str(path.resolve()) for path in paths)


def load_inherited() -> None:
    """Run the plugins that the environment names."""
    for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        _load(Path(path))


def _load(path: Path) -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"rnnsearch_plugin_{path.stem}"
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise RnnsearchError(f"--plugin {path}: not a Python file (its name ends in .py)")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        lines = [frame.tb_lineno for frame in _frames(error) if frame.tb_frame.f_code.co_filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        place = f", line {line}" if line else ""
        raise RnnsearchError(f"--plugin {path}{place}: {type(error).__name__}: {error}") from error


def _frames(error: BaseException) -> list[TracebackType]:
    frames, frame = [], error.__traceback__
    while frame is not None:
        frames.append(frame)
        frame = frame.tb_next
    return frames
