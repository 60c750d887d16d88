"""Runs a student's file in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from rnnsearch.checking import student
from rnnsearch.checking.equations import EQUATIONS, Case, Results
from rnnsearch.errors import RnnsearchError
from rnnsearch.extras import EXTRAS, require


@dataclass(frozen=True)
class Failure:
    """The reason why a function has no results."""

    error: str
    lines: list[str] = field(default_factory=list)
    """The lines of the student's own files that led to an exception."""
    absent: bool = False
    """Whether the file lacks the function, or the function is not written yet."""
    package: str = ""
    """The package that could not be imported, if that is the reason."""


def run(file: Path, case: Case, timeout: float) -> dict[str, Results | Failure]:
    """Return the outcome of each function of the file; the next functions run even if one of them ends its process."""
    if not file.is_file():
        raise RnnsearchError(f"{file}: there is no such file; `rnnsearch check --template numpy` prints one to begin with")
    waiting = [equation.name for equation in EQUATIONS]
    arguments = {equation.name: ",".join(equation.arguments) for equation in EQUATIONS}
    outcomes: dict[str, Results | Failure] = {}
    with tempfile.TemporaryDirectory(prefix="rnnsearch-check-") as temporary:
        folder = Path(temporary)
        _write_inputs(folder / "inputs.npz", case)
        while waiting:
            command = [sys.executable, "-P", student.__file__, str(file.resolve()), str(folder / "inputs.npz"), str(folder)]
            command += [f"{name}={arguments[name]}" for name in waiting]
            try:
                # What the file prints goes to standard error.
                status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, timeout=timeout).returncode
                end = f"the process ended with status {status}"
            except subprocess.TimeoutExpired:
                end = f"the process took more than {timeout:g} seconds"
            failure = _outcome(folder, "imported")
            if isinstance(failure, Failure):
                if failure.package in EXTRAS:
                    require(failure.package)
                raise RnnsearchError(f"{file}: {': '.join([*failure.lines[-1:], failure.error])}; mend the file")
            if not (folder / "imported").exists():
                raise RnnsearchError(
                    f"{file}: {end} while the file was imported; let it only define functions, or raise --timeout"
                )
            for name in list(waiting):
                waiting.remove(name)
                outcome = _outcome(folder, name)
                outcomes[name] = Failure(f"{end}, in this function") if outcome is None else outcome
                if outcome is None:
                    break
    if all(isinstance(outcome, Failure) and outcome.absent and not outcome.lines for outcome in outcomes.values()):
        raise RnnsearchError(
            f"{file}: has none of the functions {', '.join(arguments)}; `rnnsearch check --template numpy` prints them all"
        )
    return outcomes


def call(functions: Sequence[Callable[..., Any]], case: Case) -> dict[str, Results | Failure]:
    """Call functions of this process with NumPy arrays, and return their results; their exceptions are not caught.

    Raises RnnsearchError for a function that has the name of no equation.
    """
    names = [equation.name for equation in EQUATIONS]
    given = {function.__name__: function for function in functions}
    if unknown := sorted(given.keys() - set(names)):
        raise RnnsearchError(f"check: {unknown[0]} is the name of no equation; the names are {', '.join(names)}")
    outcomes: dict[str, Results | Failure] = {}
    with tempfile.TemporaryDirectory(prefix="rnnsearch-check-") as temporary:
        inputs = Path(temporary) / "inputs.npz"
        _write_inputs(inputs, case)
        for equation in (equation for equation in EQUATIONS if equation.name in given):
            try:
                module = SimpleNamespace(**given)
                outcomes[equation.name] = student.results_of(module, equation.name, [*equation.arguments], str(inputs))
            except NotImplementedError:
                outcomes[equation.name] = Failure("", absent=True)
    return outcomes


def _write_inputs(path: Path, case: Case) -> None:
    """Write the inputs of a case, without the directions, which are the reference's own."""
    given: dict[str, Any] = {key: value for key, value in case.items() if not key.startswith("direction/")}
    np.savez(path, **given)


def _outcome(folder: Path, name: str) -> Results | Failure | None:
    """Read the outcome of a function from its files: its results, the description of an error, or None."""
    if (path := folder / f"{name}.npz").exists():
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    if (path := folder / f"{name}.json").exists():
        return Failure(**json.loads(path.read_text(encoding="utf-8")))
    return None
